#include "linux_sandbox/sandboxed_run.h"

#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <system_error>

#include <fmt/format.h>

#include "sandbox/bubblewrap.h"
#include "sandbox/inner_orders.h"
#include "sandbox/outer_stage.h"
#include "sandbox/proxy_bridge.h"
#include "sandbox/resolution.h"
#include "sys/io.h"

namespace holdfast::linux_sandbox {
namespace {

std::string Variable(const char* name) {
  const char* value = std::getenv(name);
  return value != nullptr ? value : "";
}

sandbox::BubblewrapSearch Search() {
  std::error_code unknown;  // without its own directory there is no bundled bubblewrap, and it says so
  const auto program = std::filesystem::read_symlink("/proc/self/exe", unknown);
  const auto cwd = std::filesystem::current_path(unknown);
  return {.path_variable = Variable("PATH"),
          .cwd = cwd.string(),
          .own_directory = program.parent_path().string(),
          .bundled_sha256 = HOLDFAST_BWRAP_SHA256};
}

}  // namespace

int Complain(Status status, std::string_view message) {
  const std::string line = fmt::format("holdfast-linux-sandbox: {}\n", message);
  (void)sys::Write(STDERR_FILENO, line.data(), line.size());  // nobody is left to tell if this fails
  return status;
}

Result<sandbox::Plan> PlanFor(const SandboxedRun& run) {
  const sandbox::Surroundings surroundings{
      .policy_cwd = run.policy_cwd, .project_roots = {}, .tmpdir = Variable("TMPDIR")};
  TRY(const sandbox::Resolution resolution, sandbox::Resolve(run.policy, surroundings));
  return sandbox::MakePlan(
      resolution, {.command_cwd = run.command_cwd, .fresh_proc = run.fresh_proc, .proxy_only = run.proxy.has_value()});
}

int Run(const SandboxedRun& run) {
  const auto plan = PlanFor(run);
  if (!plan) return Complain(kCannotEnforce, plan.error().message);
  const auto bubblewrap = sandbox::FindBubblewrap(Search());
  if (!bubblewrap) {
    const bool missing = bubblewrap.error().kind == ErrorKind::kNotFound;
    return Complain(missing ? kInternal : kBadDigest, bubblewrap.error().message);
  }
  sandbox::InnerOrders orders;
  orders.argv = run.command;
  orders.working_directory = plan->working_directory;
  orders.filter = plan->filter;
  orders.landlock = plan->landlock;
  std::optional<sandbox::ProxyBridge> bridge;
  if (run.proxy) {
    auto started = sandbox::ProxyBridge::Start(run.proxy->endpoints);
    if (!started) return Complain(kInternal, started.error().message);
    bridge.emplace(*std::move(started));
    orders.proxy = {.control_fd = bridge->control(),
                    .listeners = static_cast<uint32_t>(run.proxy->endpoints.size()),
                    .variables = run.proxy->variables};
  }
  const auto status = sandbox::RunOuterStage(*bubblewrap, *plan, orders);
  return status ? *status : Complain(kCannotEnforce, status.error().message);
}

}  // namespace holdfast::linux_sandbox
