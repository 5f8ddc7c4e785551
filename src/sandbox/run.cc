#include "sandbox/run.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <expected>
#include <optional>
#include <utility>
#include <variant>
#include <vector>

#include <fmt/format.h>

#include "base/environment_variable.h"
#include "process/command/start_report.h"
#include "sandbox/bubblewrap/bubblewrap.h"
#include "sandbox/bubblewrap/bundled_bubblewrap.h"
#include "sandbox/bubblewrap/namespace_trial.h"
#include "sandbox/bubblewrap/outer_stage.h"
#include "sandbox/confine/confinement.h"
#include "sandbox/confine/exec_layer.h"
#include "sandbox/confine/landlock.h"
#include "sandbox/jail/landlock_stage.h"
#include "sandbox/native/resident.h"
#include "sandbox/plan/landlock_plan.h"
#include "sandbox/plan/make_plan.h"
#include "sandbox/plan/plan.h"
#include "sandbox/plan_inputs.h"
#include "sandbox/policy/permission_profile.h"
#include "sandbox/prepared_plan.h"
#include "sandbox/proxy/bridge.h"
#include "sandbox/proxy/routes.h"
#include "sandbox/resolve/resolution.h"
#include "sys/inherit.h"

namespace holdfast::sandbox {
namespace {

// A job is the command to run, together with what this process has derived from it.
struct Job {
  const SandboxedCommand& asked;
  Policy policy;
  std::string_view called_as = {};
  BuiltIn built_in = nullptr;  // the file helper, if it runs instead of a command
  bool needs_sandbox = true;
  std::optional<ProxyRoutes> routes = {};  // the proxies, where they are the only network
};

std::unexpected<Failure> CannotEnforce(std::string message) { return Fails(kCannotEnforce, std::move(message)); }

Result<Bubblewrap> BubblewrapFor(const SandboxedCommand& command, const Resolution& resolution) {
  if (command.bubblewrap_fd) return Bubblewrap{.program = OwnedFd(*command.bubblewrap_fd), .path = "bubblewrap"};
  std::vector<std::string> project = command.project_roots;
  project.push_back(command.policy_cwd);
  return FindBubblewrap(
      {.path_variable = command.tool_path ? *command.tool_path : EnvironmentVariable("PATH").value_or(""),
       .untrusted = UntrustedDirectories(resolution, std::move(project)),
       .own_directory = ProgramDirectory(command),
       .bundled_sha256 = BundledBubblewrapDigest()});
}

// Fails where Landlock cannot enforce the policy, on any kernel or on this one.
Result<LandlockPlan> LandlockPlanFor(const Resolution& resolution, const Job& job) {
  TRY(LandlockPlan plan, MakeLandlockPlan(resolution, OptionsFor(job.asked)));
  TRY_VOID(CheckLandlockAbi(LandlockAbi()));
  return plan;
}

// The plan, and the resolution that it was made of.
struct Choice {
  Resolution resolution;
  std::variant<NamespacePlan, LandlockPlan> plan;
};

Result<Choice> ChoosePlan(const Job& job) {
  TRY(Resolution resolution, ResolutionFor(job.policy, job.asked));
  if (job.asked.legacy_landlock != LegacyLandlock::kNo) {
    auto plan = LandlockPlanFor(resolution, job);
    if (plan) return Choice{std::move(resolution), *std::move(plan)};
    if (job.asked.legacy_landlock == LegacyLandlock::kRequired) return std::unexpected(std::move(plan).error());
  }
  TRY(NamespacePlan plan, MakePlan(resolution, OptionsFor(job.asked)));
  return Choice{std::move(resolution), std::move(plan)};
}

// Becomes the command, or runs the file helper, in this process: the last step of a run without namespaces.
Outcome Become(const Job& job) {
  const std::optional<int> report_fd = job.asked.report_fd;
  if (job.built_in != nullptr) {
    if (report_fd) {
      process::ReportStarted(*report_fd);
      ::close(*report_fd);
    }
    return job.built_in({}, {});
  }
  if (job.asked.exec_supervisor_fd) {
    const auto supervised = SubmitToSupervisor(OwnedFd(*job.asked.exec_supervisor_fd));
    if (!supervised) return CannotEnforce(supervised.error().message);
  }
  if (job.asked.kept_fd) {
    const auto kept = sys::LetInherit(*job.asked.kept_fd);
    if (!kept) return CannotEnforce(kept.error().message);
  }
  if (report_fd) process::ReportExecuting(*report_fd);
  auto [status, error] = Execute(job.asked.command);
  return Fails(status, std::move(error.message));
}

// Returns the port ruleset for a command that can reach the ports of the machine. Other commands need none.
std::optional<int> PortRuleset(Filter filter, const Job& job) {
  return filter == Filter::kGuardedNetwork ? job.asked.port_ruleset_fd : std::nullopt;
}

Outcome RunInLandlock(const LandlockPlan& plan, const Job& job) {
  const auto caller = job.built_in != nullptr ? Caller::kFileRequests : Caller::kCommand;
  const auto entered = EnterLandlockStage(plan, caller,
                                          {.report = job.asked.report_fd,
                                           .port_ruleset = PortRuleset(plan.filter, job),
                                           .exec_supervisor = job.asked.exec_supervisor_fd,
                                           .kept = job.asked.kept_fd});
  if (!entered) return CannotEnforce(entered.error().message);
  return Become(job);
}

struct BubblewrapFailure {
  Failure failure;
  NotStarted::By by = NotStarted::By::kRefused;
};

std::expected<int, BubblewrapFailure> RunInBubblewrap(const Bubblewrap& bubblewrap, const NamespacePlan& plan,
                                                      const Job& job) {
  InnerOrders orders;
  orders.command = job.asked.command;
  orders.command.cwd = plan.working_directory;
  orders.built_in = job.built_in != nullptr;
  orders.absent = plan.absent;
  orders.report_fd = job.asked.report_fd;
  orders.filter = plan.filter;
  orders.landlock = plan.landlock;
  orders.port_ruleset_fd = PortRuleset(plan.filter, job);
  orders.exec_supervisor_fd = job.asked.exec_supervisor_fd;
  if (job.asked.kept_fd) orders.kept_fds = {*job.asked.kept_fd};
  std::optional<ProxyBridge> bridge;
  if (job.routes) {
    auto started = ProxyBridge::Start(job.routes->endpoints);
    if (!started) return std::unexpected(BubblewrapFailure{{kInternal, std::move(started).error().message}});
    bridge.emplace(*std::move(started));
    orders.proxy = {.control_fd = bridge->control(),
                    .listeners = static_cast<uint32_t>(job.routes->endpoints.size()),
                    .variables = job.routes->variables};
  }
  auto status = RunOuterStage(bubblewrap, plan, orders, job.asked.program_fd);
  if (status) return *status;
  return std::unexpected(
      BubblewrapFailure{{kCannotEnforce, std::move(status.error().error.message)}, status.error().by});
}

// Runs the command under Landlock alone, because bubblewrap does not work here. A warning tells what is not enforced:
// the user has allowed this fallback, but may not know that it is used.
Outcome FallBack(Failure why, const Resolution& resolution, const Job& job) {
  if (!job.asked.landlock_only) return std::unexpected(std::move(why));
  const auto plan = LandlockPlanFor(resolution, job);
  if (!plan) {
    why.message += fmt::format("; Landlock alone cannot enforce the policy either: {}", plan.error().message);
    return std::unexpected(std::move(why));
  }
  const bool keeps_signals = LandlockAbi() >= kLandlockAbiOfSignals;
  WriteMessage(
      job.called_as,
      fmt::format("warning: Landlock only, because bubblewrap does not work here ({}): the command can see{} other "
                  "processes, and processes that it leaves behind go on running",
                  why.message, keeps_signals ? "" : " and signal"));
  return RunInLandlock(*plan, job);
}

bool LeadTo(const ProxyRoutes& routes, uint16_t port) {
  return std::ranges::find(routes.endpoints, port, &ProxyEndpoint::port) != routes.endpoints.end();
}

std::expected<ProxyRoutes, Failure> RoutesFor(const SandboxedCommand& command) {
  auto routes = FindProxyRoutes(environ, command.proxy_ports);
  if (!routes) return Fails(kInternal, routes.error().message);
  if (command.shut_port && LeadTo(*routes, *command.shut_port)) {
    return CannotEnforce(
        fmt::format("the proxy on port {} is the server that starts this command: through it the command could start "
                    "others without a sandbox",
                    *command.shut_port));
  }
  return *std::move(routes);
}

// A disabled profile asks for no sandbox. The file helper uses no network, so it needs a sandbox only where the policy
// restricts files.
bool NeedsSandbox(const SandboxedCommand& command, const Profile& profile) {
  if (command.proxy_network != ProxyNetwork::kNone) return true;
  return profile.type != ProfileType::kDisabled && (!command.file_helper || profile.policy.files);
}

std::expected<Job, Failure> MakeJob(const SandboxedCommand& command, std::string_view called_as, BuiltIn file_helper) {
  if (command.file_helper && file_helper == nullptr) {
    return Fails(kBadUsage, "--fs-helper is not built into this program");
  }
  if (command.command.argv.empty() && !command.file_helper) return Fails(kInternal, "no command to run");
  auto profile = ReadProfile(command);
  if (!profile) return std::unexpected(std::move(profile).error());
  Job job{.asked = command, .policy = {}, .called_as = called_as};
  job.built_in = command.file_helper ? file_helper : nullptr;
  job.needs_sandbox = NeedsSandbox(command, *profile);
  job.policy = std::move(profile->policy);
  if (command.proxy_network != ProxyNetwork::kNone) {
    auto routes = RoutesFor(command);
    if (!routes) return std::unexpected(std::move(routes).error());
    job.routes = *std::move(routes);
  }
  return job;
}

Outcome RunDirectly(const Job& job) {
  const std::optional<int> report_fd = job.asked.report_fd;
  const std::string& cwd = job.asked.working_directory();
  if (report_fd && ::fcntl(*report_fd, F_SETFD, FD_CLOEXEC) < 0) {
    return CannotEnforce(ErrnoError("fcntl", fmt::format("descriptor {}", *report_fd), errno).message);
  }
  if (::chdir(cwd.c_str()) < 0) return CannotEnforce(ErrnoError("chdir", cwd, errno).message);
  return Become(job);
}

// Stays, and runs the commands that a server asks for.
Outcome Stay(const SandboxedCommand& command) {
  const auto prepared = PreparePlan(command);
  if (!prepared) return CannotEnforce(prepared.error().message);
  const auto& [plan, noted, key] = *prepared;
  const bool needs_ruleset = plan.filter == Filter::kGuardedNetwork;
  const auto served = RunResident({.plan = plan,
                                   .noted = noted,
                                   .key = key,
                                   .port_ruleset_fd = needs_ruleset ? command.port_ruleset_fd : std::nullopt},
                                  OwnedFd(*command.resident_fd));
  if (!served) return CannotEnforce(served.error().message);
  return 0;
}

}  // namespace

Result<std::string> Explain(const SandboxedCommand& command) {
  auto profile = ReadProfile(command);
  if (!profile) return Fail(ErrorKind::kInvalidParams, std::move(profile).error().message);
  TRY(const Choice choice, ChoosePlan({.asked = command, .policy = std::move(profile->policy)}));
  return std::visit([](const auto& plan) { return Text(plan); }, choice.plan);
}

Outcome Run(const SandboxedCommand& command, std::string_view called_as, BuiltIn file_helper) {
  if (command.resident_fd) return Stay(command);
  auto made = MakeJob(command, called_as, file_helper);
  if (!made) return std::unexpected(std::move(made).error());
  const Job& job = *made;
  if (!job.needs_sandbox) return RunDirectly(job);
  const auto choice = ChoosePlan(job);
  if (!choice) return CannotEnforce(choice.error().message);
  if (const auto* landlock = std::get_if<LandlockPlan>(&choice->plan)) return RunInLandlock(*landlock, job);
  const auto& plan = std::get<NamespacePlan>(choice->plan);
  const auto bubblewrap = BubblewrapFor(command, choice->resolution);
  if (!bubblewrap) {
    const bool missing = bubblewrap.error().kind == ErrorKind::kNotFound;
    Failure failure{missing ? kInternal : kBadDigest, bubblewrap.error().message};
    return missing ? FallBack(std::move(failure), choice->resolution, job) : std::unexpected(std::move(failure));
  }
  auto outcome = RunInBubblewrap(*bubblewrap, plan, job);
  if (outcome) return *outcome;
  auto& [failure, by] = outcome.error();
  // A path that was removed or replaced is an attack, and no reason to go on with less protection.
  const bool may_lack_namespaces = command.landlock_only && by == NotStarted::By::kBackend;
  if (may_lack_namespaces && TryNamespaces(*bubblewrap, plan, command.program_fd) == Namespaces::kDoNotWork) {
    return FallBack(std::move(failure), choice->resolution, job);
  }
  return std::unexpected(std::move(failure));
}

}  // namespace holdfast::sandbox
