#include "sandbox/plan/make_plan.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "sandbox/plan/mount_planner.h"
#include "sandbox/plan/own_programs.h"
#include "sandbox/plan/plan_options.h"
#include "sandbox/plan/rule_map.h"
#include "sandbox/resolve/path_walk.h"

namespace holdfast::sandbox {
namespace {

using Rights = LandlockRule::Rights;

// Returns mounts that show the whole file system with its devices, but not the processes outside of the sandbox.
std::vector<Mount> EverythingWritable(const PlanOptions& options) {
  std::vector<Mount> mounts = {WritableBind{.path = "/"}, WritableBind{.path = "/dev"}};
  if (options.fresh_proc) mounts.emplace_back(FreshProc{.only_knobs = true});
  return mounts;
}

Mount Root(Exposure exposure) {
  if (exposure == Exposure::kWritable) return WritableBind{.path = "/"};
  if (exposure == Exposure::kReadOnly) return ReadOnlyBind{.path = "/"};
  return EmptyRoot{};
}

// Returns the mounts that every restricted plan begins with.
std::vector<Mount> Base(Exposure root, const PlanOptions& options) {
  std::vector<Mount> mounts = {Root(root), PrivateDev{}};
  if (options.fresh_proc) {
    mounts.emplace_back(FreshProc{.only_knobs = root == Exposure::kWritable});
  } else if (root == Exposure::kWritable) {
    mounts.emplace_back(ReadOnlyBind{.path = "/proc"});  // without it root could write the kernel's settings there
  }
  return mounts;
}

Rights RightsIn(Exposure root) {
  if (root == Exposure::kWritable) return Rights::kWrite;
  return root == Exposure::kReadOnly ? Rights::kRead : Rights::kList;
}

std::vector<LandlockRule> BaseLandlock(Exposure root, const PlanOptions& options) {
  std::vector<LandlockRule> rules = {{.path = "/", .rights = RightsIn(root)},
                                     {.path = "/dev", .rights = Rights::kWrite}};
  if (root == Exposure::kHidden && options.fresh_proc) rules.push_back({.path = "/proc", .rights = Rights::kRead});
  return rules;
}

// Adds rules that grant access. Landlock cannot deny access to a path below one that it grants; the mounts do that.
void AddLandlock(std::vector<LandlockRule>& landlock, const RuleMap& map) {
  const bool root_is_hidden = map.ExposureOf("/") == Exposure::kHidden;
  for (const auto& [path, placed] : map.rules()) {
    if (path == "/" || !placed.walk.exists()) continue;
    if (placed.rule.access == Access::kWrite) landlock.push_back({.path = path, .rights = Rights::kWrite});
    if (placed.rule.access != Access::kRead || !root_is_hidden) continue;
    if (map.ExposureAround(path) == Exposure::kHidden) landlock.push_back({.path = path, .rights = Rights::kRead});
  }
}

// Returns the resolution with a rule that denies each of the hidden files and directories.
Resolution WithHidden(Resolution resolution, const PlanOptions& options) {
  for (const auto* paths : {&options.hidden, &options.private_dirs}) {
    for (const std::string& path : *paths) resolution.rules.push_back({.path = path, .access = Access::kDeny});
  }
  return resolution;
}

Result<> HideFiles(const PlanOptions& options, NamespacePlan& plan) {
  if (options.hidden.empty() && options.private_dirs.empty()) return {};
  Resolution everything;
  everything.rules.push_back({.path = "/", .access = Access::kWrite});
  TRY(const RuleMap map, RuleMap::Create(WithHidden(std::move(everything), options)));
  MountPlanner planner(map, {.command_cwd = {}, .missing_names = options.missing_names});  // there is no PrivateDev
  TRY_VOID(planner.PlanAll());
  std::ranges::move(planner.TakeMounts(), std::back_inserter(plan.mounts));
  plan.placeholders = planner.TakePlaceholders();
  plan.absent = planner.TakeAbsent();
  return {};
}

Result<> RestrictFiles(const Resolution& resolution, const PlanOptions& options, const MadeLinks& made,
                       NamespacePlan& plan) {
  TRY(RuleMap map, RuleMap::Create(WithHidden(resolution, options), made));
  if (options.mounts_by == MountsBy::kDescriptor) TRY_VOID(map.AddNestedGit(resolution.nested_git));
  TRY_VOID(CheckOwnPrograms(map, options.program_directory));
  MountPlanner planner(map, options);
  TRY_VOID(planner.PlanAll());
  const Exposure root = map.ExposureOf("/");
  plan.mounts = Base(root, options);
  std::ranges::move(planner.TakeMounts(), std::back_inserter(plan.mounts));
  if (root == Exposure::kHidden) plan.mounts.emplace_back(Seal{.path = "/"});
  plan.placeholders = planner.TakePlaceholders();
  plan.absent = planner.TakeAbsent();
  plan.landlock = BaseLandlock(root, options);
  AddLandlock(plan.landlock, map);
  return {};
}

// Returns the working directory without links in its path, because some of these links may be hidden inside.
std::string WorkingDirectory(const std::string& cwd) {
  PathWalker walker;
  const auto walk = walker.Walk(cwd);
  return walk && walk->exists() ? walk->path : cwd;
}

}  // namespace

Filter FilterFor(Network network, const PlanOptions& options) {
  if (options.proxy_network == ProxyNetwork::kListening) return Filter::kProxyOnly;
  if (options.proxy_network == ProxyNetwork::kNoListening) return Filter::kProxyNoListening;
  if (network == Network::kRestricted) return Filter::kRestrictedNetwork;
  return options.port_is_shut ? Filter::kGuardedNetwork : Filter::kOpenNetwork;
}

Result<NamespacePlan> MakePlan(const Resolution& resolution, const PlanOptions& options, const MadeLinks& made) {
  NamespacePlan plan;
  plan.filter = FilterFor(resolution.network, options);
  plan.own_network = options.proxy_network != ProxyNetwork::kNone || plan.filter == Filter::kRestrictedNetwork;
  plan.working_directory = WorkingDirectory(options.command_cwd);
  if (!resolution.unrestricted) {
    TRY_VOID(RestrictFiles(resolution, options, made, plan));
  } else {
    plan.mounts = EverythingWritable(options);
    TRY_VOID(HideFiles(options, plan));
  }
  return plan;
}

}  // namespace holdfast::sandbox
