#include "sandbox/job.h"

#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <utility>

#include <fmt/format.h>

#include "sandbox/plan_inputs.h"
#include "sandbox/policy/permission_profile.h"

namespace holdfast::sandbox {
namespace {

bool LeadTo(const ProxyRoutes& routes, uint16_t port) {
  return std::ranges::find(routes.endpoints, port, &ProxyEndpoint::port) != routes.endpoints.end();
}

std::expected<ProxyRoutes, Failure> RoutesFor(const SandboxedCommand& command) {
  auto routes = FindProxyRoutes(environ, command.proxy_ports);
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

bool NeedsSandbox(const SandboxedCommand& command, const Profile& profile) {
  if (command.proxy_network != ProxyNetwork::kNone) return true;
  return profile.type != ProfileType::kDisabled && (!command.file_helper || profile.policy.files);
}

std::expected<Job, Failure> MakeJob(const SandboxedCommand& command, std::string_view called_as, BuiltIn file_helper) {
  if (command.file_helper && file_helper == nullptr) {
    return Fails(kBadUsage, "--fs-helper is not built into this program");
  }
  if (command.command.argv.empty() && !command.file_helper) return Fails(kInternal, "no command to run");
  auto text = ReadProfileText(command);
  if (!text) return std::unexpected(std::move(text).error());
  auto profile = ReadProfile(*text);
  if (!profile) return std::unexpected(std::move(profile).error());
  Job job{.asked = command, .policy = {}, .profile = *std::move(text), .called_as = called_as};
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

}  // namespace holdfast::sandbox
