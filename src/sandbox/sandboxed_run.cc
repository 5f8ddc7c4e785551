#include "sandbox/sandboxed_run.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include "process/command/start_report.h"
#include "sandbox/confine/confinement.h"
#include "sandbox/confine/landlock.h"
#include "sandbox/jail/bubblewrap.h"
#include "sandbox/jail/bundled_bubblewrap.h"
#include "sandbox/jail/inner_orders.h"
#include "sandbox/jail/landlock_stage.h"
#include "sandbox/jail/namespace_trial.h"
#include "sandbox/jail/outer_stage.h"
#include "sandbox/plan/landlock_plan.h"
#include "sandbox/plan/make_plan.h"
#include "sandbox/plan/plan.h"
#include "sandbox/plan/plan_options.h"
#include "sandbox/proxy/bridge.h"
#include "sandbox/resolve/resolution.h"
#include "sandbox/resolve/resolve.h"
#include "sandbox/resolve/temporary_directory.h"

namespace holdfast::sandbox {
namespace {

std::unexpected<Failure> CannotEnforce(std::string message) {
  return std::unexpected(Failure{kCannotEnforce, std::move(message)});
}

std::string Variable(const char* name) {
  const char* value = std::getenv(name);
  return value != nullptr ? value : "";
}

std::string ToolPath(const SandboxedRun& run) { return run.tool_path.value_or(Variable("PATH")); }

std::string ProgramDirectory(const SandboxedRun& run) {
  if (!run.program_directory.empty()) return run.program_directory;
  std::error_code unknown;  // without its own directory there is no bundled bubblewrap, and it says so
  return std::filesystem::read_symlink("/proc/self/exe", unknown).parent_path().string();
}

BubblewrapSearch Search(const SandboxedRun& run, const Resolution& resolution) {
  std::vector<std::string> project = run.project_roots;
  project.push_back(run.policy_cwd);
  return {.path_variable = ToolPath(run),
          .untrusted = PlacesOfCommands(resolution, std::move(project)),
          .own_directory = ProgramDirectory(run),
          .bundled_sha256 = BundledBubblewrapDigest()};
}

Result<Bubblewrap> BubblewrapFor(const SandboxedRun& run, const Resolution& resolution) {
  if (!run.bubblewrap_fd) return FindBubblewrap(Search(run, resolution));
  return Bubblewrap{.program = OwnedFd(*run.bubblewrap_fd), .path = "bubblewrap"};
}

std::optional<std::string> TemporaryDirectoryOf(const SandboxedRun& run) {
  if (!NamesTemporaryDirectory(run.policy)) return std::nullopt;
  auto directory = ResolveTemporaryDirectory({.wanted = Variable("TMPDIR"), .of_server = run.server_tmpdir});
  return directory ? std::optional(*std::move(directory)) : std::nullopt;
}

Result<Resolution> ResolutionFor(const SandboxedRun& run) {
  return Resolve(
      run.policy,
      {.policy_cwd = run.policy_cwd, .project_roots = run.project_roots, .tmpdir = TemporaryDirectoryOf(run)});
}

PlanOptions OptionsFor(const SandboxedRun& run) {
  return {.command_cwd = run.command.cwd,
          .fresh_proc = run.fresh_proc,
          .missing_names = run.built_in != nullptr ? MissingNames::kRefused : MissingNames::kCovered,
          .proxy_only = run.proxy.has_value(),
          .may_listen = run.may_listen,
          .port_is_shut = run.port_ruleset_fd.has_value(),
          .hidden = run.hidden,
          .program_directory = ProgramDirectory(run)};
}

// Fails where the policy cannot be enforced so, by any kernel or by this one.
Result<Plan> LandlockPlanFor(const Resolution& resolution, const SandboxedRun& run) {
  TRY(Plan plan, MakeLandlockPlan(resolution, OptionsFor(run)));
  TRY_VOID(CheckLandlockAbi(LandlockAbi()));
  return plan;
}

enum class Backend { kBubblewrap, kLandlock };

// What is enforced, and by what. The resolution is what the plan was made of.
struct Choice {
  Resolution resolution;
  Backend backend;
  Plan plan;
};

Result<Choice> ChoosePlan(const SandboxedRun& run) {
  TRY(Resolution resolution, ResolutionFor(run));
  if (run.legacy_landlock != LegacyLandlock::kNo) {
    auto plan = LandlockPlanFor(resolution, run);
    if (plan) return Choice{std::move(resolution), Backend::kLandlock, *std::move(plan)};
    if (run.legacy_landlock == LegacyLandlock::kRequired) return std::unexpected(std::move(plan).error());
  }
  TRY(Plan plan, MakePlan(resolution, OptionsFor(run)));
  return Choice{std::move(resolution), Backend::kBubblewrap, std::move(plan)};
}

// What both kinds of start without namespaces end with.
Outcome Become(const SandboxedRun& run) {
  if (run.built_in != nullptr) {
    if (run.report_fd) {
      process::ReportStarted(*run.report_fd);
      ::close(*run.report_fd);
    }
    return run.built_in({}, {});
  }
  if (run.report_fd) process::ReportExecuting(*run.report_fd);
  auto [status, error] = Execute(run.command);
  return std::unexpected(Failure{status, std::move(error.message)});
}

// The ruleset is for a command that can reach the ports of the machine.
std::optional<int> PortRuleset(const Plan& plan, const SandboxedRun& run) {
  return plan.filter == Filter::kGuardedNetwork ? run.port_ruleset_fd : std::nullopt;
}

Outcome RunInLandlock(const Plan& plan, const SandboxedRun& run) {
  const auto caller = run.built_in != nullptr ? Caller::kFileRequests : Caller::kCommand;
  const auto entered = EnterLandlockStage(plan, caller, run.report_fd, PortRuleset(plan, run));
  if (!entered) {
    return CannotEnforce(entered.error().message);
  }
  return Become(run);
}

struct BubblewrapFailure {
  Failure failure;
  NotStarted::By by = NotStarted::By::kRefused;
};

std::expected<int, BubblewrapFailure> RunInBubblewrap(const Bubblewrap& bubblewrap, const Plan& plan,
                                                      const SandboxedRun& run) {
  InnerOrders orders;
  orders.command = run.command;
  orders.command.cwd = plan.working_directory;
  orders.built_in = run.built_in != nullptr;
  orders.absent = plan.absent;
  orders.report_fd = run.report_fd;
  orders.filter = plan.filter;
  orders.landlock = plan.landlock;
  orders.port_ruleset_fd = PortRuleset(plan, run);
  std::optional<ProxyBridge> bridge;
  if (run.proxy) {
    auto started = ProxyBridge::Start(run.proxy->endpoints);
    if (!started) return std::unexpected(BubblewrapFailure{{kInternal, std::move(started).error().message}});
    bridge.emplace(*std::move(started));
    orders.proxy = {.control_fd = bridge->control(),
                    .listeners = static_cast<uint32_t>(run.proxy->endpoints.size()),
                    .variables = run.proxy->variables};
  }
  auto status = RunOuterStage(bubblewrap, plan, orders, run.program_fd);
  if (status) return *status;
  return std::unexpected(
      BubblewrapFailure{{kCannotEnforce, std::move(status.error().error.message)}, status.error().by});
}

// In place of a bubblewrap that does not work here. What does not hold then is said: the user has allowed it, but may
// not know that it has come to that.
Outcome FallBack(Failure why, const Resolution& resolution, const SandboxedRun& run) {
  if (!run.landlock_only) return std::unexpected(std::move(why));
  const auto plan = LandlockPlanFor(resolution, run);
  if (!plan) {
    why.message += fmt::format("; and without it {}", plan.error().message);
    return std::unexpected(std::move(why));
  }
  const bool keeps_signals = LandlockAbi() >= kLandlockAbiOfSignals;
  Say(run.speaker,
      fmt::format("warning: Landlock only, because bubblewrap does not work here ({}): other processes can be seen{}, "
                  "and what the command leaves running goes on",
                  why.message, keeps_signals ? "" : " and signalled"));
  return RunInLandlock(*plan, run);
}

}  // namespace

Result<std::string> Explain(const SandboxedRun& run) {
  TRY(const Choice choice, ChoosePlan(run));
  return choice.backend == Backend::kLandlock ? LandlockText(choice.plan) : Text(choice.plan);
}

Outcome Run(const SandboxedRun& run) {
  const auto choice = ChoosePlan(run);
  if (!choice) return CannotEnforce(choice.error().message);
  if (choice->backend == Backend::kLandlock) return RunInLandlock(choice->plan, run);
  const auto bubblewrap = BubblewrapFor(run, choice->resolution);
  if (!bubblewrap) {
    const bool missing = bubblewrap.error().kind == ErrorKind::kNotFound;
    Failure failure{missing ? kInternal : kBadDigest, bubblewrap.error().message};
    return missing ? FallBack(std::move(failure), choice->resolution, run) : std::unexpected(std::move(failure));
  }
  auto outcome = RunInBubblewrap(*bubblewrap, choice->plan, run);
  if (outcome) return *outcome;
  auto& [failure, by] = outcome.error();
  // A path that was taken away or replaced is an attack, and no reason to go on with less.
  const bool may_lack_namespaces = run.landlock_only && by == NotStarted::By::kBubblewrap;
  if (may_lack_namespaces && TryNamespaces(*bubblewrap, choice->plan, run.program_fd) == Namespaces::kDoNotWork) {
    return FallBack(std::move(failure), choice->resolution, run);
  }
  return std::unexpected(std::move(failure));
}

Outcome RunDirectly(const SandboxedRun& run) {
  if (run.report_fd && ::fcntl(*run.report_fd, F_SETFD, FD_CLOEXEC) < 0) {
    return CannotEnforce(ErrnoError("fcntl", fmt::format("descriptor {}", *run.report_fd), errno).message);
  }
  if (::chdir(run.command.cwd.c_str()) < 0) return CannotEnforce(ErrnoError("chdir", run.command.cwd, errno).message);
  return Become(run);
}

}  // namespace holdfast::sandbox
