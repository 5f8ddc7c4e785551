#include "sandbox/policy/builtin_policies.h"

#include <algorithm>
#include <array>

namespace holdfast::sandbox {
namespace {

struct Builtin {
  std::string_view name;
  Policy (*make)();
};

constexpr std::array kBuiltins = {Builtin{"read-only", &ReadOnly}, Builtin{"workspace-write", &WorkspaceWrite}};

}  // namespace

Policy ReadOnly() {
  return {.files = {{.entries = {{Place{PlaceKind::kRoot}, Access::kRead}}, .glob_scan_max_depth = {}}}};
}

Policy WorkspaceWrite() {
  Policy policy = ReadOnly();
  for (const PlaceKind kind : {PlaceKind::kProjectRoots, PlaceKind::kSlashTmp, PlaceKind::kTmpDir}) {
    policy.files->entries.push_back({Place{kind}, Access::kWrite});
  }
  return policy;
}

std::optional<Policy> BuiltinPolicy(std::string_view name) {
  const auto* builtin = std::ranges::find(kBuiltins, name, &Builtin::name);
  return builtin == kBuiltins.end() ? std::nullopt : std::optional(builtin->make());
}

}  // namespace holdfast::sandbox
