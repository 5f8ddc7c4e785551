#include "sandbox/prepared_plan.h"

#include <algorithm>
#include <span>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "base/sha256.h"
#include "sandbox/plan/make_plan.h"
#include "sandbox/plan_inputs.h"

namespace holdfast::sandbox {
namespace {

PlanKey KeyOf(NamespacePlan plan, std::span<const MountCheck> noted) {
  plan.working_directory.clear();
  std::string text = Text(plan);
  for (const MountCheck& check : noted) {
    text += fmt::format("{}:{} {}", check.outside.device, check.outside.inode, check.path).append(1, '\0');
  }
  Sha256 digest;
  digest.Update(std::as_bytes(std::span(text)));
  return digest.Digest();
}

Result<PreparedPlan> Prepare(const Policy& policy, const SandboxedCommand& command, WalkMemory* memory) {
  TRY(const Resolution resolution, ResolutionFor(policy, command, memory));
  TRY(NamespacePlan plan,
      MakePlan(resolution, OptionsFor(command, resolution, MountsBy::kDescriptor), MadeLinksFor(command)));
  TRY_VOID(RememberRoots(command, plan));
  TRY(std::vector<MountCheck> noted, NoteMounts(plan, PlaceholderState::kMissing));
  NoteIdentities(noted, plan.landlock);
  const PlanKey key = KeyOf(plan, noted);
  return PreparedPlan{.plan = std::move(plan), .noted = std::move(noted), .key = key};
}

}  // namespace

// A file that another program makes or removes in between costs a second attempt, as in Run.
Result<PreparedPlan> PreparePlan(const SandboxedCommand& command, WalkMemory* memory) {
  TRY(const Profile profile, ProfileOf(command));
  auto prepared = Prepare(profile.policy, command, memory);
  if (prepared || prepared.error().kind != ErrorKind::kNotFound) return prepared;
  return Prepare(profile.policy, command, memory);
}

}  // namespace holdfast::sandbox
