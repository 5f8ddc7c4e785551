#include "sandbox/launchers/planned_entry.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/record.h"
#include "base/sha256.h"
#include "sandbox/proxy/routes.h"
#include "sys/argv.h"

namespace holdfast::sandbox {
namespace {

std::vector<std::string> Entries(const process::Environment& variables) {
  std::vector<std::string> entries;
  entries.reserve(variables.size());
  for (const auto& [name, value] : variables) entries.push_back(std::string(name).append("=").append(value));
  return entries;
}

std::optional<std::string_view> PathOf(const process::Environment& variables) {
  const auto found = std::ranges::find(variables, "PATH", &process::Environment::value_type::first);
  return found != variables.end() ? std::optional<std::string_view>(found->second) : std::nullopt;
}

// The keeper of a helper enters the directory before there is a sandbox, and reports why it cannot.
Result<> CheckDirectory(const std::string& cwd) {
  if (const OwnedFd directory(::open(cwd.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC)); !directory.is_open()) {
    return FailErrno("open", cwd);
  }
  if (::access(cwd.c_str(), X_OK) < 0) return FailErrno("access", cwd);
  return {};
}

// Finds the proxies of the command, which must not be the server itself.
Result<std::optional<ProxyRoutes>> ProxiesFor(const EntryRequest& request,
                                              const std::vector<std::string>& environment) {
  if (!request.sandbox.proxies) return std::nullopt;
  const auto ports = request.sandbox.proxies->loopback_ports.value_or(std::vector<uint16_t>());
  TRY(ProxyRoutes routes, FindProxyRoutes(sys::Argv(environment).data(), ports));
  const auto open = request.server_access.open_port();
  if (open && std::ranges::find(routes.endpoints, *open, &ProxyEndpoint::port) != routes.endpoints.end()) {
    return Fail(ErrorKind::kInvalidRequest, "a proxy is the server that starts this command");
  }
  return routes;
}

// Pid 1 looks the program up as the helper does, which gets the words of the command and no search path.
Result<RunCommand> CommandFor(const EntryRequest& request, std::string working_directory) {
  RunCommand run{.environment = Entries(request.variables),
                 .has_terminal = request.has_terminal,
                 .is_supervised = request.is_supervised,
                 .kept_variable = request.kept_variable};
  run.command = process::MakeCommand(process::TextOf(*request.command), PathOf(request.variables));
  run.command.cwd = std::move(working_directory);
  TRY(run.proxies, ProxiesFor(request, run.environment));
  return run;
}

}  // namespace

Result<PlannedEntry> PlanEntry(const EntryRequest& request) {
  if (request.command) TRY_VOID(CheckDirectory(request.command->cwd));
  TRY_VOID(request.given_roots);
  PlannedEntry planned;
  if (request.guarded.shuts_port) {
    TRY(planned.jail.port_ruleset, request.server_access.PortRuleset());
  }
  TRY(PlannedJail jail, PlanJail(request.sandbox, request.place, request.guarded, request.memory.get()));
  planned.jail.plan = EncodeRecord(jail.plan);
  Sha256 digest;
  digest.Update(std::as_bytes(std::span(planned.jail.plan)));
  planned.jail.digest = digest.Digest();
  if (request.command) {
    TRY(planned.entry.task, CommandFor(request, std::move(jail.working_directory)));
  } else {
    planned.entry.task = ServeFiles();
  }
  return planned;
}

}  // namespace holdfast::sandbox
