#include "sandbox/policy/builtin_policies.h"

#include <algorithm>
#include <array>
#include <utility>

namespace holdfast::sandbox {
namespace {

struct Builtin {
  std::string_view name;
  Policy (*make)();
};

constexpr std::array kBuiltins = {Builtin{"read-only", &ReadOnly},
                                  Builtin{"workspace-write", [] { return WorkspaceWrite(); }}};

}  // namespace

Policy ReadOnly() {
  return {.files = {{.entries = {{Place{PlaceKind::kRoot}, Access::kRead}}, .glob_scan_max_depth = {}}}};
}

Policy WorkspaceWrite(const WorkspaceSettings& settings) {
  Policy policy = ReadOnly();
  policy.network = settings.network;
  const auto let_write = [&](decltype(Entry::where) where) {
    policy.files->entries.push_back({std::move(where), Access::kWrite});
  };
  let_write(Place{PlaceKind::kProjectRoots});
  if (!settings.without_slash_tmp) let_write(Place{PlaceKind::kSlashTmp});
  if (!settings.without_tmpdir) let_write(Place{PlaceKind::kTmpDir});
  for (const AbsolutePath& root : settings.writable_roots) let_write(root);
  return policy;
}

std::optional<Policy> BuiltinPolicy(std::string_view name) {
  const auto* builtin = std::ranges::find(kBuiltins, name, &Builtin::name);
  return builtin == kBuiltins.end() ? std::nullopt : std::optional(builtin->make());
}

}  // namespace holdfast::sandbox
