// Turns the rules into mounts, each path's own: what a rule needs where its path leads, and what keeps the directories
// above it in their places.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "sandbox/plan/plan.h"
#include "sandbox/plan/plan_options.h"
#include "sandbox/plan/rule_map.h"

namespace holdfast::sandbox {

class MountPlanner {
 public:
  MountPlanner(const RuleMap& rules, MissingNames missing_names) : rules_(rules), missing_names_(missing_names) {}

  // Fails when a path that is to be kept from the command cannot be looked at.
  Result<> LayAll();

  // The plan's mounts without those that every plan begins with; seals come last.
  std::vector<Mount> TakeMounts();
  std::vector<Placeholder> TakePlaceholders() { return std::move(placeholders_); }
  std::vector<std::string> TakeAbsent() { return std::move(absent_); }

 private:
  Result<> Lay(const std::string& path, const PlacedRule& placed);
  void LayExisting(const std::string& path, const PlacedRule& placed);
  void KeepMissing(const PlacedRule& placed);
  void HoldAncestors(std::string_view path);
  void OpenWayTo(std::string_view path);

  const RuleMap& rules_;
  const MissingNames missing_names_;
  std::map<std::string, Mount, ShallowFirst> steps_;  // at most one for a path
  std::vector<Placeholder> placeholders_;
  std::vector<std::string> absent_;
};

}  // namespace holdfast::sandbox
