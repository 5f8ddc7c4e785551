#include "profile/builtin_policies.h"

namespace holdfast::profile {
namespace {

using sandbox::Access;
using sandbox::Place;
using sandbox::PlaceKind;

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
  if (name == kBuiltinNames[0]) return ReadOnly();
  if (name == kBuiltinNames[1]) return WorkspaceWrite();
  return std::nullopt;
}

}  // namespace holdfast::profile
