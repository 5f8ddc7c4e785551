#include "sandbox/backend_runs.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "process/command/start_report.h"
#include "sandbox/backend.h"
#include "sandbox/bubblewrap/outer_stage.h"
#include "sandbox/confine/confinement.h"
#include "sandbox/confine/exec_layer.h"
#include "sandbox/jail/landlock_stage.h"
#include "sandbox/native/native_jail.h"
#include "sandbox/proxy/bridge.h"
#include "sys/executable_image.h"
#include "sys/inherit.h"

namespace holdfast::sandbox {
namespace {

process::Enforcement By(Backend backend, const std::string& why = "") {
  return {.backend = std::string(NameOf(backend)), .reason = why};
}

// Returns the port ruleset for a command that can reach the ports of the machine. Other commands need none.
std::optional<int> PortRuleset(Filter filter, const Job& job) {
  return filter == Filter::kGuardedNetwork ? job.asked.port_ruleset_fd : std::nullopt;
}

InnerOrders OrdersFor(const NamespacePlan& plan, const Job& job, process::Enforcement enforcement) {
  InnerOrders orders;
  orders.command = job.asked.command;
  orders.command.cwd = plan.working_directory;
  orders.built_in = job.built_in != nullptr;
  orders.absent = plan.absent;
  orders.report_fd = job.asked.report_fd;
  orders.enforcement = std::move(enforcement);
  orders.filter = plan.filter;
  orders.landlock = plan.landlock;
  orders.port_ruleset_fd = PortRuleset(plan.filter, job);
  orders.exec_supervisor_fd = job.asked.exec_supervisor_fd;
  if (job.asked.kept_fd) orders.kept_fds = {*job.asked.kept_fd};
  return orders;
}

// Starts the bridge to the proxies of the job, if it has any, and orders the inner stage to use it. Returns the control
// socket of the bridge.
Result<OwnedFd> BridgeFor(const Job& job, InnerOrders& orders) {
  if (!job.routes) return OwnedFd();
  TRY(OwnedFd bridge, StartProxyBridge(job.routes->endpoints));
  orders.proxy = {.control_fd = bridge.get(),
                  .listeners = static_cast<uint32_t>(job.routes->endpoints.size()),
                  .variables = job.routes->variables};
  return bridge;
}

// Becomes the command, or runs the file helper, in this process. The reason why the command cannot be executed is
// written and reported here, because its exit status tells it too.
Ran Become(const Job& job, const process::Enforcement& enforcement) {
  const std::optional<int> report_fd = job.asked.report_fd;
  if (job.built_in != nullptr) {
    if (report_fd) {
      process::ReportStarted(*report_fd, enforcement);
      ::close(*report_fd);
    }
    return job.built_in({}, {});
  }
  if (job.asked.exec_supervisor_fd) TRY_VOID(SubmitToSupervisor(OwnedFd(*job.asked.exec_supervisor_fd)));
  if (job.asked.kept_fd) TRY_VOID(sys::LetInherit(*job.asked.kept_fd));
  if (report_fd) process::ReportExecuting(*report_fd, enforcement);
  auto [status, error] = Execute(job.asked.command);
  return Conclude(job.called_as, Fails(status, std::move(error.message)), report_fd);
}

}  // namespace

std::optional<int> SealedProgram(const Job& job) {
  const std::optional<int> program = job.asked.program_fd;
  return program && sys::IsSealed(*program) ? program : std::nullopt;
}

Ran RunUnderNative(const NamespacePlan& plan, const Job& job) {
  InnerOrders orders = OrdersFor(plan, job, By(Backend::kNative));
  TRY(const OwnedFd bridge, BridgeFor(job, orders));
  return RunNative(plan, orders, job.built_in);
}

Ran RunUnderBubblewrap(const Bubblewrap& bubblewrap, const NamespacePlan& plan, const Job& job,
                       const std::string& why) {
  InnerOrders orders = OrdersFor(plan, job, By(Backend::kBubblewrap, why));
  TRY(const OwnedFd bridge, BridgeFor(job, orders));
  return RunOuterStage(bubblewrap, plan, orders, SealedProgram(job));
}

Ran RunUnderLandlock(const LandlockPlan& plan, const Job& job, const std::string& why) {
  const auto caller = job.built_in != nullptr ? Caller::kFileRequests : Caller::kCommand;
  TRY_VOID(EnterLandlockStage(plan, caller,
                              {.report = job.asked.report_fd,
                               .port_ruleset = PortRuleset(plan.filter, job),
                               .exec_supervisor = job.asked.exec_supervisor_fd,
                               .kept = job.asked.kept_fd}));
  return Become(job, By(Backend::kLandlock, why));
}

Ran RunDirectly(const Job& job) {
  const std::optional<int> report_fd = job.asked.report_fd;
  const std::string& cwd = job.asked.working_directory();
  if (report_fd && ::fcntl(*report_fd, F_SETFD, FD_CLOEXEC) < 0) {
    return FailErrno("fcntl", fmt::format("descriptor {}", *report_fd));
  }
  if (::chdir(cwd.c_str()) < 0) return FailErrno("chdir", cwd);
  return Become(job, {});
}

}  // namespace holdfast::sandbox
