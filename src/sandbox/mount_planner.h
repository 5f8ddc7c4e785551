// Turns the rules into mounts, each path's own: what a rule needs where its path leads, and what keeps the directories
// above it in their places.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "sandbox/plan.h"
#include "sandbox/rule_map.h"

namespace holdfast::sandbox {

class MountPlanner {
 public:
  explicit MountPlanner(const RuleMap& rules) : rules_(rules) {}

  // Fails when a path that is to be kept from the command cannot be looked at.
  Result<> LayAll();

  // The plan's mounts without those that every plan begins with; seals come last.
  std::vector<Mount> TakeMounts();
  std::vector<Placeholder> TakePlaceholders() { return std::move(placeholders_); }

 private:
  Result<> Lay(const std::string& path, const PlacedRule& placed);
  void LayExisting(const std::string& path, const PlacedRule& placed);
  void KeepMissing(const PlacedRule& placed);
  void HoldAncestors(std::string_view path);
  void OpenWayTo(std::string_view path);

  const RuleMap& rules_;
  std::map<std::string, Mount, ShallowFirst> steps_;  // at most one for a path
  std::vector<Placeholder> placeholders_;
};

}  // namespace holdfast::sandbox
