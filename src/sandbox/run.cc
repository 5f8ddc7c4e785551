#include "sandbox/run.h"

#include <fcntl.h>

#include <optional>
#include <utility>
#include <variant>
#include <vector>

#include <fmt/format.h>

#include "base/environment_variable.h"
#include "sandbox/backend_runs.h"
#include "sandbox/bubblewrap/bubblewrap.h"
#include "sandbox/bubblewrap/bundled_bubblewrap.h"
#include "sandbox/bubblewrap/namespace_trial.h"
#include "sandbox/confine/landlock.h"
#include "sandbox/jail/host_limits.h"
#include "sandbox/jail/landlock_stage.h"
#include "sandbox/job.h"
#include "sandbox/native/trial.h"
#include "sandbox/own_image.h"
#include "sandbox/plan/landlock_plan.h"
#include "sandbox/plan/plan.h"
#include "sandbox/plan/planner.h"
#include "sandbox/resolve/resolution.h"

namespace holdfast::sandbox {
namespace {

Outcome OutcomeOf(Ran ran) {
  if (ran) return *ran;
  return CannotEnforce(std::move(ran.error().error));
}

// Fails where Landlock cannot enforce the policy, on any kernel or on this one.
Result<LandlockPlan> LandlockPlanOf(const Planner& planner) {
  TRY(LandlockPlan plan, planner.Landlock());
  TRY_VOID(CheckLandlockAbi(LandlockAbi()));
  return plan;
}

bool MayUseNative(const SandboxedCommand& command) {
  return command.backend == Backend::kAuto || command.backend == Backend::kNative;
}

// The plan for the first backend that is tried.
using FirstPlan = std::variant<NamespacePlan, LandlockPlan>;

Result<FirstPlan> ChoosePlan(const SandboxedCommand& asked, const Planner& planner) {
  const bool must_be_landlock = asked.backend == Backend::kLandlock;
  if (must_be_landlock || (asked.backend == Backend::kAuto && asked.prefers_landlock)) {
    auto plan = LandlockPlanOf(planner);
    if (plan) return *std::move(plan);
    if (must_be_landlock) {
      plan.error().message += "; -c use_legacy_landlock=true uses Landlock only where it is enough";
      return std::unexpected(std::move(plan).error());
    }
  }
  return planner.Mounts(MayUseNative(asked) ? MountsBy::kDescriptor : MountsBy::kName);
}

// The reason why a backend does not work on this machine, the exit status that tells it, and the cause and the remedy
// where they are not in the reason.
struct DoesNotWork {
  Failure why;
  std::string cause = {};

  std::string Text() const { return cause.empty() ? why.message : fmt::format("{}. {}", why.message, cause); }
};

// The answer of a backend: the outcome of the job, or that the machine does not allow this backend. A job that has
// failed for another reason, such as a path that was removed or replaced, has its outcome: that may be an attack, and
// is no reason to go on with another backend.
using Answer = std::variant<Outcome, DoesNotWork>;

Answer TryNativeBackend(const NamespacePlan& plan, const Job& job) {
  if (const auto safe = CheckOwnImage(job.asked.program_fd); !safe) return CannotEnforce(safe.error());
  auto ran = RunUnderNative(plan, job);
  if (ran || ran.error().by == NotStarted::By::kRefused) return OutcomeOf(std::move(ran));
  const auto failure = TryNative(NeedsOf(plan));
  if (!failure) return OutcomeOf(std::move(ran));
  return DoesNotWork{{kCannotEnforce, fmt::format("the native backend does not work here: {}", Text(*failure))},
                     Explain(GatherHostFacts(), *failure)};
}

Result<Bubblewrap> BubblewrapFor(const SandboxedCommand& command, const Resolution& resolution) {
  if (command.bubblewrap_fd) {
    OwnedFd program(::fcntl(*command.bubblewrap_fd, F_DUPFD_CLOEXEC, 0));  // another attempt may need it again
    if (!program.is_open()) return FailErrno("fcntl", "bubblewrap");
    return Bubblewrap{.program = std::move(program), .path = "bubblewrap"};
  }
  std::vector<std::string> project = command.sandbox.project_roots;
  project.push_back(command.sandbox.policy_cwd);
  return FindBubblewrap(
      {.path_variable = command.tool_path ? *command.tool_path : EnvironmentVariable("PATH").value_or(""),
       .untrusted = UntrustedDirectories(resolution, std::move(project)),
       .own_directory = ProgramDirectory(command.guarded),
       .bundled_sha256 = BundledBubblewrapDigest()});
}

Answer TryBubblewrap(const NamespacePlan& plan, const Planner& planner, const Job& job, const std::string& why) {
  const auto bubblewrap = BubblewrapFor(job.asked, planner.resolution());
  if (!bubblewrap) {
    if (bubblewrap.error().kind == ErrorKind::kNotFound) return DoesNotWork{{kInternal, bubblewrap.error().message}};
    return Fails(kBadDigest, bubblewrap.error().message);
  }
  auto ran = RunUnderBubblewrap(*bubblewrap, plan, job, why);
  if (ran || ran.error().by == NotStarted::By::kRefused) return OutcomeOf(std::move(ran));
  // The trial costs a start. Without it nothing is run, which is right for every cause.
  const bool matters = job.asked.landlock_only;
  if (!matters || TryNamespaces(*bubblewrap, plan, SealedProgram(job)) == Namespaces::kWork) {
    return OutcomeOf(std::move(ran));
  }
  return DoesNotWork{{kCannotEnforce, std::move(ran.error().error.message)}};
}

// Runs the command under Landlock alone, because no other backend works here. A warning tells what is not enforced: the
// user has allowed this fallback, but may not know that it is used.
Outcome FallBack(Failure why, const Planner& planner, const Job& job) {
  if (!job.asked.landlock_only) return std::unexpected(std::move(why));
  const auto plan = LandlockPlanOf(planner);
  if (!plan) {
    why.message += fmt::format("; Landlock alone cannot enforce the policy either: {}", plan.error().message);
    return std::unexpected(std::move(why));
  }
  const bool keeps_signals = LandlockAbi() >= kLandlockAbiOfSignals;
  WriteMessage(
      job.called_as,
      fmt::format("warning: Landlock only, because namespaces do not work here ({}): the command can see{} other "
                  "processes, and processes that it leaves behind go on running",
                  why.message, keeps_signals ? "" : " and signal"));
  return OutcomeOf(RunUnderLandlock(*plan, job, why.message));
}

// Adds to the failure of bubblewrap why the native backend was not used. Both often have the same cause.
void Add(const std::optional<DoesNotWork>& native, Failure& why) {
  if (!native) return;
  const bool same_cause = why.message.contains(native->cause);
  why.message +=
      (why.message.ends_with('.') ? " Also, " : "; also, ") + (same_cause ? native->why.message : native->Text());
}

// Runs the job by bubblewrap, or by Landlock if bubblewrap does not work. `native` tells why the native backend, if it
// was tried before, does not work either.
Outcome RunWithoutNative(const NamespacePlan& plan, const Planner& planner, const Job& job,
                         const std::optional<DoesNotWork>& native) {
  auto answer = TryBubblewrap(plan, planner, job, native ? native->Text() : "");
  if (auto* outcome = std::get_if<Outcome>(&answer)) {
    if (!*outcome) Add(native, outcome->error());
    return std::move(*outcome);
  }
  Failure& why = std::get<DoesNotWork>(answer).why;
  Add(native, why);
  return FallBack(std::move(why), planner, job);
}

// The only place that chooses between the backends which make namespaces. `plan` is for the first of them.
Outcome RunInNamespaces(const NamespacePlan& plan, const Planner& planner, const Job& job) {
  if (!MayUseNative(job.asked)) return RunWithoutNative(plan, planner, job, std::nullopt);
  auto answer = TryNativeBackend(plan, job);
  if (auto* outcome = std::get_if<Outcome>(&answer)) return std::move(*outcome);
  const auto native = std::get<DoesNotWork>(std::move(answer));
  if (job.asked.backend == Backend::kNative) return FallBack({native.why.status, native.Text()}, planner, job);
  const auto by_name = planner.Mounts(MountsBy::kName);
  if (!by_name) return CannotEnforce(by_name.error());
  return RunWithoutNative(*by_name, planner, job, native);
}

// Resolves the policy, makes the plan and runs the job by it.
Outcome Attempt(const Job& job) {
  const auto planner = PlannerFor(job.asked);
  if (!planner) return CannotEnforce(planner.error());
  const auto first = ChoosePlan(job.asked, *planner);
  if (!first) return CannotEnforce(first.error());
  if (const auto* plan = std::get_if<LandlockPlan>(&*first)) return OutcomeOf(RunUnderLandlock(*plan, job, ""));
  return RunInNamespaces(std::get<NamespacePlan>(*first), *planner, job);
}

}  // namespace

Result<std::string> Explain(const SandboxedCommand& command) {
  if (!NeedsSandbox(command)) return "no sandbox\n";
  TRY(const Planner planner, PlannerFor(command));
  TRY(const FirstPlan first, ChoosePlan(command, planner));
  return std::visit([](const auto& plan) { return Text(plan); }, first);
}

Outcome Run(const SandboxedCommand& command, std::string_view called_as, BuiltIn file_helper) {
  const auto made = MakeJob(command, called_as, file_helper);
  if (!made) return std::unexpected(made.error());
  const Job& job = *made;
  if (!NeedsSandbox(job.asked)) return OutcomeOf(RunDirectly(job));
  // This comes before the policy is resolved, which may take long and would have to be done again.
  if (MayUseNative(command) && !command.program_fd && !CheckOwnImage(std::nullopt)) {
    return CannotEnforce(ExecuteOutOfReach(job.asked, called_as));
  }
  // Another program may make or remove a file on a protected path while this one looks, as another sandbox does that
  // has placeholders of its own. One more attempt, with a look at everything, tells whether this was all.
  Outcome outcome = Attempt(job);
  if (outcome || !outcome.error().is_about_change) return outcome;
  return Attempt(job);
}

}  // namespace holdfast::sandbox
