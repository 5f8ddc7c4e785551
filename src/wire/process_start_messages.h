// Params and result of process/start.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "wire/env_policy.h"
#include "wire/exec_policy_messages.h"
#include "wire/managed_network.h"
#include "wire/process_end_messages.h"
#include "wire/process_io_messages.h"
#include "wire/sandbox_messages.h"

namespace holdfast::wire {

// A command that the client has prepared in full, so that neither PATH nor an environment policy applies to it.
struct PreparedCommand {
  std::string program, cwd;
  std::vector<std::string> argv;
  StringMap env;
  std::optional<std::string> arg0;

  void Fields(auto& f) {
    f.Required("program", program);
    f.Required("argv", argv);
    f.Required("env", env);
    f.Required("cwd", cwd);
    f.Optional("arg0", arg0);
  }
};

struct ProcessStartParams {
  std::string process_id, cwd;
  std::vector<std::string> argv;
  StringMap env;
  bool tty = false, pipe_stdin = false, enforce_managed_network = false;
  std::optional<std::string> arg0;
  std::optional<EnvPolicy> env_policy;
  std::optional<ProcessIo> io;
  std::optional<PreparedCommand> prepared;
  std::optional<Sandbox> sandbox;
  std::optional<ManagedNetwork> managed_network;
  std::optional<ExecPolicy> exec_policy;
  std::optional<Limits> limits;
  Given network_proxy, shell_snapshot;

  void Fields(auto& f) {
    f.Required("processId", process_id);
    f.Optional("prepared", prepared);
    f.Optional("io", io);
    if (!prepared) {
      f.Required("argv", argv);
      f.Required("cwd", cwd);
      f.Required("env", env);
    }
    if (io) {
      f.Optional("tty", tty);
    } else {
      f.Required("tty", tty);
    }
    f.Optional("pipeStdin", pipe_stdin);
    f.Optional("arg0", arg0);
    f.Optional("envPolicy", env_policy);
    f.Optional("enforceManagedNetwork", enforce_managed_network);
    f.Optional("sandbox", sandbox);
    f.Optional("managedNetwork", managed_network);
    f.Optional("execPolicy", exec_policy);
    f.Optional("limits", limits);
    f.Optional("networkProxy", network_proxy);
    f.Optional("shellSnapshot", shell_snapshot);
  }
};

// This server runs on Linux; a client also meets the sandboxes of servers on other systems.
enum class SandboxType { kNone, kLinuxSeccomp, kMacosSeatbelt, kWindowsRestrictedToken };
template <>
struct EnumNames<SandboxType> {
  static constexpr std::array<std::pair<const char*, SandboxType>, 4> kNames{
      {{"none", SandboxType::kNone},
       {"linuxSeccomp", SandboxType::kLinuxSeccomp},
       {"macosSeatbelt", SandboxType::kMacosSeatbelt},
       {"windowsRestrictedToken", SandboxType::kWindowsRestrictedToken}}};
};

struct ProcessStartResult {
  std::string process_id;
  SandboxType sandbox_type = SandboxType::kNone;

  void Fields(auto& f) {
    f.Required("processId", process_id);
    f.Optional("sandboxType", sandbox_type);
  }
};

}  // namespace holdfast::wire
