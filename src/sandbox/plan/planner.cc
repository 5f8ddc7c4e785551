#include "sandbox/plan/planner.h"

#include <algorithm>
#include <variant>

#include "base/paths.h"
#include "sandbox/plan/make_plan.h"
#include "sandbox/plan/private_dirs.h"
#include "sandbox/resolve/given_roots.h"
#include "sandbox/resolve/made_links.h"
#include "sandbox/resolve/resolve.h"
#include "sandbox/resolve/temporary_directory.h"
#include "sys/own_program.h"

namespace holdfast::sandbox {
namespace {

ProxyNetwork ProxyNetworkOf(const SandboxSpec& spec) {
  if (!spec.proxies) return ProxyNetwork::kNone;
  return spec.proxies->may_listen() ? ProxyNetwork::kListening : ProxyNetwork::kNoListening;
}

std::optional<std::string> TemporaryDirectoryFor(const Policy& policy, const CommandPlace& place,
                                                 const Guarded& guarded) {
  if (!NamesTemporaryDirectory(policy)) return std::nullopt;
  auto directory = ResolveTemporaryDirectory({.wanted = place.tmpdir, .of_server = guarded.server_tmpdir});
  return directory ? std::optional(*std::move(directory)) : std::nullopt;
}

// Returns whether copies of one template serve several commands. They do not where the plan mounts something at or
// below /proc, /dev/shm or /dev/pts, because these are made anew for each command and would hide it.
bool FitsTemplate(const NamespacePlan& plan) {
  return std::ranges::none_of(plan.mounts, [](const Mount& mount) {
    return std::visit(
        [](const auto& step) {
          if constexpr (requires { step.path; }) {
            return IsAtOrBelow(step.path, "/proc") || IsAtOrBelow(step.path, "/dev/shm") ||
                   IsAtOrBelow(step.path, "/dev/pts");
          }
          return false;
        },
        mount);
  });
}

Result<PlannedJail> PlanOnce(const SandboxSpec& spec, const CommandPlace& place, const Guarded& guarded,
                             WalkMemory* memory) {
  TRY(const Planner planner, Planner::Create(spec, place, guarded, memory));
  TRY(NamespacePlan mounts, planner.Mounts(MountsBy::kDescriptor));
  PlannedJail planned;
  planned.working_directory = std::exchange(mounts.working_directory, {});
  TRY(planned.plan.noted, NoteMounts(mounts, PlaceholderState::kMissing));
  NoteIdentities(planned.plan.noted, mounts.landlock);
  planned.plan.sharing = FitsTemplate(mounts) ? Sharing::kTemplate : Sharing::kEachCommand;
  planned.plan.mounts = std::move(mounts);
  return planned;
}

}  // namespace

std::string ProgramDirectory(const Guarded& guarded) {
  return guarded.program_directory.empty() ? sys::OwnDirectory() : guarded.program_directory;
}

Result<Planner> Planner::Create(const SandboxSpec& spec, CommandPlace place, Guarded guarded, WalkMemory* memory) {
  const Policy& policy = spec.profile.policy;
  TRY(Resolution resolution, Resolve(policy, {.policy_cwd = spec.policy_cwd,
                                              .project_roots = spec.project_roots,
                                              .tmpdir = TemporaryDirectoryFor(policy, place, guarded),
                                              .memory = memory}));
  if (place.cwd.empty()) place.cwd = spec.policy_cwd;
  return Planner(std::move(resolution), std::move(place), std::move(guarded), ProxyNetworkOf(spec));
}

PlanOptions Planner::Options(MountsBy mounts_by) const {
  return {.command_cwd = place_.cwd,
          .fresh_proc = place_.fresh_proc,
          .missing_names = place_.missing_names,
          .mounts_by = mounts_by,
          .proxy_network = proxy_network_,
          .port_is_shut = guarded_.shuts_port,
          .hidden = guarded_.hidden,
          .private_dirs = FindPrivateDirs(guarded_.private_dirs, resolution_),
          .program_directory = ProgramDirectory(guarded_)};
}

Result<NamespacePlan> Planner::Mounts(MountsBy mounts_by) const {
  const MadeLinks made = MadeLinks::In(guarded_.server_tmpdir, guarded_.given_roots_fd);
  TRY(NamespacePlan plan, MakePlan(resolution_, Options(mounts_by), made));
  std::vector<std::string> roots;
  for (const Mount& mount : plan.mounts) {
    if (const auto* const root = std::get_if<WritableBind>(&mount)) roots.push_back(root->path);
  }
  TRY_VOID(Remember(std::move(roots)));
  return plan;
}

Result<LandlockPlan> Planner::Landlock() const {
  const MadeLinks made = MadeLinks::In(guarded_.server_tmpdir, guarded_.given_roots_fd);
  TRY(LandlockPlan plan, MakeLandlockPlan(resolution_, Options(MountsBy::kName), made));
  std::vector<std::string> roots;
  for (const LandlockRule& rule : plan.landlock) {
    if (rule.rights == LandlockRule::Rights::kWrite) roots.push_back(rule.path);
  }
  TRY_VOID(Remember(std::move(roots)));
  return plan;
}

Result<> Planner::Remember(std::vector<std::string> roots) const {
  if (!guarded_.given_roots_fd) return {};
  std::erase_if(roots, [](const std::string& root) { return IsAtOrBelow(root, "/dev"); });
  return GivenRoots::Add(*guarded_.given_roots_fd, roots);
}

// A file that another program makes or removes in between costs a second attempt.
Result<PlannedJail> PlanJail(const SandboxSpec& spec, const CommandPlace& place, const Guarded& guarded,
                             WalkMemory* memory) {
  auto planned = PlanOnce(spec, place, guarded, memory);
  if (planned || planned.error().kind != ErrorKind::kNotFound) return planned;
  return PlanOnce(spec, place, guarded, memory);
}

}  // namespace holdfast::sandbox
