#include "sandbox/job.h"

#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/environment_variable.h"
#include "base/owned_fd.h"
#include "sandbox/policy/permission_profile.h"
#include "sys/read_to_end.h"

namespace holdfast::sandbox {
namespace {

bool LeadTo(const ProxyRoutes& routes, uint16_t port) {
  return std::ranges::find(routes.endpoints, port, &ProxyEndpoint::port) != routes.endpoints.end();
}

// Closes the descriptor, so that the command does not get it.
Result<std::string> ReadPassed(int fd) {
  constexpr size_t max_bytes = size_t{16} << 20;
  const OwnedFd passed(fd);
  return sys::ReadToEnd(fd, max_bytes, fmt::format("descriptor {}", fd));
}

std::expected<Profile, Failure> ReadProfile(const SandboxedCommand& command) {
  if (!command.profile && !command.profile_fd) return Fails(kInternal, "--permission-profile is missing");
  const Result<std::string> text = command.profile ? *command.profile : ReadPassed(*command.profile_fd);
  if (!text) return Fails(kBadUsage, text.error().message);
  auto profile = ParseProfile(*text);
  if (!profile) return Fails(kBadUsage, "permission profile: " + profile.error().message);
  return *std::move(profile);
}

std::expected<ProxyRoutes, Failure> RoutesFor(const SandboxedCommand& command) {
  auto routes = FindProxyRoutes(environ, command.sandbox.proxies->loopback_ports.value_or(std::vector<uint16_t>()));
  if (!routes) return Fails(kInternal, routes.error().message);
  if (command.shut_port && LeadTo(*routes, *command.shut_port)) {
    return Fails(
        kCannotEnforce,
        fmt::format("the proxy on port {} is the server that starts this command: through it the command could start "
                    "others without a sandbox",
                    *command.shut_port));
  }
  return *std::move(routes);
}

}  // namespace

std::unexpected<Failure> CannotEnforce(Error why) {
  const bool is_about_change = why.kind == ErrorKind::kNotFound;  // not_started.h
  return std::unexpected(Failure{kCannotEnforce, std::move(why.message), is_about_change});
}

bool NeedsSandbox(const SandboxedCommand& command) {
  const Profile& profile = command.sandbox.profile;
  if (command.sandbox.proxies) return true;
  return profile.type != ProfileType::kDisabled && (!command.file_helper || profile.policy.files);
}

std::expected<Job, Failure> MakeJob(SandboxedCommand command, std::string_view called_as, BuiltIn file_helper) {
  if (command.file_helper && file_helper == nullptr) {
    return Fails(kBadUsage, "--fs-helper is not built into this program");
  }
  if (command.command.argv.empty() && !command.file_helper) return Fails(kInternal, "no command to run");
  auto profile = ReadProfile(command);
  if (!profile) return std::unexpected(std::move(profile).error());
  command.sandbox.profile = *std::move(profile);
  Job job{.asked = std::move(command), .called_as = called_as};
  job.built_in = job.asked.file_helper ? file_helper : nullptr;
  if (job.asked.sandbox.proxies) {
    auto routes = RoutesFor(job.asked);
    if (!routes) return std::unexpected(std::move(routes).error());
    job.routes = *std::move(routes);
  }
  return job;
}

Result<Planner> PlannerFor(const SandboxedCommand& command) {
  Guarded guarded = command.guarded;
  guarded.shuts_port = command.port_ruleset_fd.has_value();
  return Planner::Create(command.sandbox,
                         {.cwd = command.command.cwd,
                          .tmpdir = EnvironmentVariable("TMPDIR").value_or(""),
                          .missing_names = command.file_helper ? MissingNames::kRefused : MissingNames::kCovered,
                          .fresh_proc = command.fresh_proc},
                         std::move(guarded));
}

}  // namespace holdfast::sandbox
