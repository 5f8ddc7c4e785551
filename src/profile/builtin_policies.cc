#include "profile/builtin_policies.h"

#include <algorithm>
#include <array>

namespace holdfast::profile {
namespace {

using sandbox::Access;
using sandbox::Place;
using sandbox::PlaceKind;

struct Builtin {
  std::string_view name;
  sandbox::Policy (*make)();
};

constexpr std::array kBuiltins = {Builtin{"read-only", &ReadOnly}, Builtin{"workspace-write", &WorkspaceWrite}};

}  // namespace

sandbox::Policy ReadOnly() {
  return {.files = {{.entries = {{Place{PlaceKind::kRoot}, Access::kRead}}, .glob_scan_max_depth = {}}}};
}

sandbox::Policy WorkspaceWrite() {
  sandbox::Policy policy = ReadOnly();
  for (const PlaceKind kind : {PlaceKind::kProjectRoots, PlaceKind::kSlashTmp, PlaceKind::kTmpDir}) {
    policy.files->entries.push_back({Place{kind}, Access::kWrite});
  }
  return policy;
}

std::optional<sandbox::Policy> BuiltinPolicy(std::string_view name) {
  const auto* builtin = std::ranges::find(kBuiltins, name, &Builtin::name);
  return builtin == kBuiltins.end() ? std::nullopt : std::optional(builtin->make());
}

}  // namespace holdfast::profile
