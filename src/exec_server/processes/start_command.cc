#include "exec_server/processes/start_command.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/file_uri.h"
#include "exec_server/environment/command_path.h"
#include "exec_server/processes/managed_network.h"

namespace holdfast::exec_server {
namespace {

// The bound on a process id. Every notification of the process repeats the id.
constexpr size_t kMaxProcessIdBytes = 1024;

process::EnvPolicy PolicyOf(const wire::EnvPolicy& policy) {
  using Inherit = process::EnvPolicy::Inherit;
  Inherit inherit = policy.inherit == wire::Inherit::kAll    ? Inherit::kAll
                    : policy.inherit == wire::Inherit::kCore ? Inherit::kCore
                                                             : Inherit::kNone;
  return {inherit, policy.ignore_default_excludes, policy.exclude, policy.set, policy.include_only};
}

// Returns the environment of a command. Without an environment policy nothing is inherited: the command gets `env` and
// no more.
process::Environment EnvironmentOf(const wire::ProcessStartParams& params,
                                   const process::Environment& server_environment) {
  if (params.env_policy) return process::BuildEnvironment(PolicyOf(*params.env_policy), server_environment, params.env);
  return process::BuildEnvironment({.inherit = process::EnvPolicy::Inherit::kNone}, {}, params.env);
}

// Returns whether the environment policy sets the command's PATH and `env` does not replace it. Such a PATH is left as
// it is.
bool SetsPathByPolicy(const wire::ProcessStartParams& params) {
  const auto names_path = [](const auto& variables) {
    return std::ranges::find(variables, "PATH", [](const auto& variable) { return variable.first; }) != variables.end();
  };
  return params.env_policy && names_path(params.env_policy->set) && !names_path(params.env);
}

std::optional<std::string_view> PathIn(const process::Environment& env) {
  const auto path = std::ranges::find(env, "PATH", &process::Environment::value_type::first);
  return path != env.end() ? std::optional<std::string_view>(path->second) : std::nullopt;
}

bool HasNul(const std::string& text) { return text.find('\0') != std::string::npos; }

Result<> CheckText(const process::Command& command) {
  auto nul = [](const std::string& what) { return Fail(ErrorKind::kSystem, what + ": contains a NUL byte"); };
  if (command.program.empty()) return Fail(ErrorKind::kSystem, "the program's name is empty");
  if (HasNul(command.program)) return nul("program");
  for (size_t i = 0; i < command.argv.size(); ++i) {
    if (HasNul(command.argv[i])) return nul(fmt::format("argv.{}", i));
  }
  for (const auto& [name, value] : command.env) {
    if (HasNul(name) || HasNul(value)) return nul("env");
    if (name.empty() || name.find('=') != std::string::npos) {
      return Fail(ErrorKind::kInvalidParams,
                  fmt::format("env: {} is not a valid variable name", name.empty() ? "\"\"" : name));
    }
  }
  return {};
}

Result<> CheckSizes(const process::Command& command, const Config& config) {
  size_t argv_bytes = command.program.size(), env_bytes = 0;
  for (const std::string& word : command.argv) argv_bytes += word.size() + 1;
  for (const auto& [name, value] : command.env) env_bytes += name.size() + value.size() + 2;
  auto too_large = [](std::string_view what, size_t size, size_t limit) {
    return Fail(ErrorKind::kLimit, fmt::format("{}: {} bytes, the limit is {}", what, size, limit));
  };
  if (argv_bytes > config.max_argv_bytes) return too_large("argv", argv_bytes, config.max_argv_bytes);
  if (env_bytes > config.max_env_bytes) return too_large("env", env_bytes, config.max_env_bytes);
  return {};
}

// Fails if the params have a restriction that the server does not support. A server that ignored it would give the
// command more rights than the client asked for.
Result<> CheckSupported(const wire::ProcessStartParams& params) {
  const std::pair<const char*, bool> restrictions[] = {{"networkProxy", params.network_proxy.given},
                                                       {"shellSnapshot", params.shell_snapshot.given}};
  for (const auto& [name, given] : restrictions) {
    if (given) return Fail(ErrorKind::kInvalidParams, fmt::format("{}: not supported by this server", name));
  }
  if (params.managed_network && !params.enforce_managed_network) {
    return Fail(ErrorKind::kInvalidParams, "managedNetwork: needs enforceManagedNetwork");
  }
  if (params.enforce_managed_network && !params.sandbox) {
    return Fail(ErrorKind::kInvalidParams, "enforceManagedNetwork: needs a sandbox");
  }
  return {};
}

Result<> CheckAllowed(const wire::ProcessStartParams& params, const Config& config) {
  if (params.prepared && !config.allow_prepared_exec) {
    return Fail(ErrorKind::kInvalidRequest, "prepared commands are switched off (allow_prepared_exec)");
  }
  if (!params.prepared && !config.allow_direct_exec) {
    return Fail(ErrorKind::kInvalidRequest, "direct commands are switched off (allow_direct_exec)");
  }
  return {};
}

// Fails if matching the patterns of the policy would take too long. Matching runs on the loop, and its cost is the
// length of all patterns times the length of all names; 64 million steps take some 100 ms.
Result<> CheckPolicy(const std::optional<wire::EnvPolicy>& policy, const process::Environment& server_environment) {
  constexpr size_t kMaxSteps = size_t{1} << 26;
  if (!policy) return {};
  size_t pattern_bytes = 1, name_bytes = 1;
  for (const std::string& pattern : policy->exclude) pattern_bytes += pattern.size() + 1;
  for (const std::string& pattern : policy->include_only) pattern_bytes += pattern.size() + 1;
  for (const auto& [name, value] : server_environment) name_bytes += name.size() + 1;
  for (const auto& [name, value] : policy->set) name_bytes += name.size() + 1;
  if (pattern_bytes <= kMaxSteps / name_bytes) return {};
  return Fail(ErrorKind::kLimit, "envPolicy: too many or too long patterns and names");
}

Result<std::optional<std::chrono::milliseconds>> WallLimitOf(const std::optional<wire::Limits>& limits) {
  constexpr std::chrono::milliseconds kLongest = std::chrono::days(365);
  if (!limits || !limits->wall_ms) return std::nullopt;
  if (*limits->wall_ms == 0) return Fail(ErrorKind::kInvalidParams, "limits.wallMs: must be at least 1");
  return std::min<uint64_t>(*limits->wall_ms, kLongest.count()) * std::chrono::milliseconds(1);
}

Result<std::string> CwdOf(const std::string& text) {
  auto path = ParsePath(text);
  if (path) return path;
  return Fail(ErrorKind::kInvalidParams, "cwd: " + path.error().message);
}

}  // namespace

Result<process::Command> ResolveCommand(const wire::ProcessStartParams& params, const Config& config,
                                        const process::Environment& server_environment, std::string_view command_path) {
  TRY_VOID(CheckSupported(params));
  TRY_VOID(CheckAllowed(params, config));
  TRY_VOID(CheckPolicy(params.env_policy, server_environment));
  const auto& argv = params.prepared ? params.prepared->argv : params.argv;
  const auto& arg0 = params.prepared ? params.prepared->arg0 : params.arg0;
  if (argv.empty()) return Fail(ErrorKind::kInvalidParams, "argv: is empty");
  if (params.process_id.size() > kMaxProcessIdBytes) {
    return Fail(ErrorKind::kInvalidParams, fmt::format("processId: longer than {} bytes", kMaxProcessIdBytes));
  }
  TRY(std::string cwd, CwdOf(params.prepared ? params.prepared->cwd : params.cwd));
  process::CommandText text{.words = argv, .arg0 = arg0};
  process::Environment env;
  if (params.prepared) {
    text.program = params.prepared->program;
    env = process::BuildEnvironment({.inherit = process::EnvPolicy::Inherit::kNone}, {}, params.prepared->env);
  } else {
    env = EnvironmentOf(params, server_environment);
    if (!SetsPathByPolicy(params)) PutFirstInPath(env, command_path);
  }
  process::Command command = process::MakeCommand(std::move(text), PathIn(env));
  command.env = std::move(env);
  command.cwd = std::move(cwd);
  TRY_VOID(CheckText(command));
  TRY_VOID(CheckSizes(command, config));
  return command;
}

Result<std::optional<sandbox::SandboxSpec>> ResolveSandbox(const wire::ProcessStartParams& params,
                                                           const process::Command& command) {
  if (!params.sandbox) return std::nullopt;
  TRY(sandbox::SandboxSpec spec, sandbox::DecodeSandbox(*params.sandbox, command.cwd));
  if (params.enforce_managed_network) {
    TRY(spec.proxies, AgreeOnProxies(params.managed_network.value_or(wire::ManagedNetwork{}), command.env));
  }
  return spec;
}

Result<StartRequest> ResolveStart(const wire::ProcessStartParams& params, const Config& config,
                                  const process::Environment& server_environment, std::string_view command_path) {
  StartRequest request;
  TRY(request.command, ResolveCommand(params, config, server_environment, command_path));
  TRY(request.sandbox, ResolveSandbox(params, request.command));
  TRY(request.wall_limit, WallLimitOf(params.limits));
  request.io = ResolveIo(params);
  return request;
}

process::Io ResolveIo(const wire::ProcessStartParams& params) {
  if (params.io && params.io->pty) return process::Terminal{{params.io->pty->rows, params.io->pty->cols}};
  if (params.io) {
    bool open = params.io->pipe->stdin_mode == wire::StdinMode::kOpen;
    return process::Pipes{open ? process::Stdin::kPipe : process::Stdin::kNull};
  }
  if (params.tty) return process::Terminal{};
  return process::Pipes{params.pipe_stdin ? process::Stdin::kPipe : process::Stdin::kNull};
}

}  // namespace holdfast::exec_server
