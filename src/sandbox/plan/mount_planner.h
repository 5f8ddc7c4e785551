// The mount planner turns rules into mounts. It decides which mount each path needs: the path of a rule needs one that
// enforces the rule, and directories above it may need one that keeps the command from renaming them.
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
  MountPlanner(const RuleMap& rules, const PlanOptions& options)
      : rules_(rules), missing_names_(options.missing_names), mounts_by_(options.mounts_by) {}

  // Plans the mounts for all rules. Fails when a path that must be kept from the command cannot be looked at.
  Result<> PlanAll();

  // Returns the mounts in their order, without those that every plan begins with. Seals come last.
  std::vector<Mount> TakeMounts();
  std::vector<Placeholder> TakePlaceholders() { return std::move(placeholders_); }
  std::vector<std::string> TakeAbsent() { return std::move(absent_); }

 private:
  Result<> PlanRule(const std::string& path, const PlacedRule& placed);
  void PlanExisting(const std::string& path, const PlacedRule& placed);
  void KeepMissing(const PlacedRule& placed);
  void PinAncestors(std::string_view path);
  Mount Pin(std::string path) const;
  void OpenWayTo(std::string_view path);

  const RuleMap& rules_;
  const MissingNames missing_names_;
  const MountsBy mounts_by_;
  std::map<std::string, Mount, ShallowFirst> steps_;  // at most one mount for each path
  std::vector<Placeholder> placeholders_;
  std::vector<std::string> absent_;
};

}  // namespace holdfast::sandbox
