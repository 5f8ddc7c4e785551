// SandboxedCommand is one command and the sandbox around it: the value that the server, the doctor and `holdfast
// sandbox` pass to the helper. It travels as a command line, which flags.h writes and reads.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "process/command/command.h"
#include "sandbox/backend.h"
#include "sandbox/plan/planner.h"
#include "sandbox/policy/sandbox_spec.h"

namespace holdfast::sandbox {

struct SandboxedCommand {
  // An empty directory means the policy's directory. No flag carries the variables: they are those of the helper's
  // process, and a program without a slash is looked up in their PATH. The argv is empty when the file helper is run.
  process::Command command = {};
  bool file_helper = false;  // the file helper runs instead of a command, and reads requests from standard input

  // The policy as JSON (policy/permission_profile.h). It is text, or a descriptor, so that it shows in no list of
  // processes.
  std::optional<std::string> profile = {};
  std::optional<int> profile_fd = {};

  // The sandbox. On a command line its profile is only in the two members above.
  SandboxSpec sandbox = {};
  Guarded guarded = {};

  // The means by which the policy is enforced.
  Backend backend = Backend::kAuto;
  bool prefers_landlock = false;              // a setting: kAuto is Landlock alone where that can enforce the policy
  bool landlock_only = false;                 // Landlock and the filter are enough where no other backend works
  bool fresh_proc = true;                     // the sandbox gets a fresh /proc
  std::optional<std::string> tool_path = {};  // the directories that bwrap is looked for in; absent: $PATH
  std::optional<uint16_t> shut_port = {};     // a TCP port that no proxy of the command may have

  // Descriptors that a server has opened once for many sandboxes, except for the last three.
  std::optional<int> program_fd = {};          // the helper, where no command can change it: own_image.h
  std::optional<int> bubblewrap_fd = {};       // absent: bubblewrap is looked for
  std::optional<int> port_ruleset_fd = {};     // confine/port_ruleset.h
  std::optional<int> exec_supervisor_fd = {};  // confine/exec_layer.h; absent: the command is not supervised
  std::optional<int> kept_fd = {};             // a descriptor that the command inherits, under the same number
  std::optional<int> report_fd = {};           // for the report on the start: process/command/start_report.h

  const std::string& working_directory() const { return command.cwd.empty() ? sandbox.policy_cwd : command.cwd; }

  friend bool operator==(const SandboxedCommand&, const SandboxedCommand&) = default;
};

}  // namespace holdfast::sandbox
