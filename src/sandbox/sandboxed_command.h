// One command and the sandbox around it: the value that the server, the doctor and `holdfast sandbox` hand to the
// helper. It travels as a command line, which flags.h writes and reads.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "process/command/command.h"
#include "sandbox/plan/plan_options.h"

namespace holdfast::sandbox {

// Landlock instead of namespaces and mounts, for the policies that can be expressed so: see plan/landlock_plan.h.
enum class LegacyLandlock {
  kNo,
  kWhereItFits,  // by a setting: other policies stay with bubblewrap
  kRequired,     // by a flag: other policies are refused
};

struct SandboxedCommand {
  // An empty directory is that of the policy. The variables are those of the helper's process, and their PATH is where
  // a bare name is looked up: no flag carries them. There is no argv where the file helper is run.
  process::Command command = {};
  bool file_helper = false;  // file requests on standard input, instead of a command

  // The policy as JSON (policy/permission_profile.h): as text, or in a descriptor, so that it is in no list of
  // processes.
  std::optional<std::string> profile = {};
  std::optional<int> profile_fd = {};

  // The directories that places of the policy stand for.
  std::string policy_cwd = {};
  std::vector<std::string> project_roots = {};  // empty: policy_cwd
  std::string server_tmpdir = {};               // resolve/temporary_directory.h

  // What enforces the policy.
  LegacyLandlock legacy_landlock = LegacyLandlock::kNo;
  bool landlock_only = false;                 // where bubblewrap does not work, Landlock and the filter will do
  bool fresh_proc = true;                     // a /proc of its own is mounted
  std::optional<std::string> tool_path = {};  // where bwrap is looked for; absent: $PATH
  std::string program_directory = {};         // plan/own_programs.h; empty: that of the running program

  ProxyNetwork proxy_network = ProxyNetwork::kNone;
  std::vector<uint16_t> proxy_ports = {};  // where the proxies may be; empty: anywhere

  // What a server keeps its commands away from.
  std::vector<std::string> hidden = {};    // files that no command may use or replace
  std::optional<uint16_t> shut_port = {};  // a TCP port that no proxy of the command may have

  // What a server that starts many sandboxes has opened, by descriptor.
  std::optional<int> program_fd = {};       // the helper in sealed memory: jail/stage_image.h
  std::optional<int> bubblewrap_fd = {};    // absent: bubblewrap is looked for
  std::optional<int> port_ruleset_fd = {};  // confine/port_ruleset.h
  std::optional<int> report_fd = {};        // for the report on the start: process/command/start_report.h

  const std::string& working_directory() const { return command.cwd.empty() ? policy_cwd : command.cwd; }

  friend bool operator==(const SandboxedCommand&, const SandboxedCommand&) = default;
};

}  // namespace holdfast::sandbox
