// The program that builds sandboxes, holdfast-linux-sandbox, as the server starts it. The policy travels in a
// descriptor; whether the command runs comes back through another.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/owned_fd.h"
#include "base/result.h"
#include "process/command/command.h"
#include "sandbox/launch/sandbox_spec.h"
#include "sandbox/launch/server_doors.h"
#include "sandbox/resolve/temporary_directory.h"
#include "sandbox/sandboxed_command.h"

namespace holdfast::sandbox {

// The programs as they were when the server started. They are executed by descriptor: what a command puts in the place
// of their files meanwhile is not.
struct SandboxPrograms {
  Result<std::shared_ptr<const OwnedFd>> helper;   // in sealed memory; or why it cannot be
  std::shared_ptr<const OwnedFd> bubblewrap = {};  // null: there was none, and the helper looks for one
  std::string directory = {};                      // where they lie
};

// A copy of a program in sealed memory.
Result<std::shared_ptr<const OwnedFd>> SealProgram(const std::string& path);

// Where the running program lies, and the helper beside it.
std::string OwnDirectory();
std::string HelperPath();

// The programs beside the running one. The helper is static: the LD_PRELOAD of a command would run in a
// program that is linked dynamically, outside the sandbox. `tool_path` is where bubblewrap is looked for: not
// where the command's own PATH says, which others may write to.
SandboxPrograms OpenSandboxPrograms(const std::string& tool_path);

class SandboxProgram {
 public:
  SandboxProgram(SandboxPrograms programs, std::string tool_path, std::string server_tmpdir)
      : programs_(std::move(programs)), tool_path_(std::move(tool_path)), server_tmpdir_(std::move(server_tmpdir)) {}

  // From here on every sandbox keeps away from them.
  void KeepFrom(ServerDoors doors) { doors_ = std::move(doors); }

  // `command`, under `sandbox`.
  Result<process::Command> Wrap(const process::Command& command, const SandboxSpec& sandbox) const;

  // What `command` says of the place `:tmpdir`, if it says anything and the sandbox asks for it. The helper decides
  // about it, and cannot tell the operator; to look at the directory may block.
  std::optional<TemporaryDirectory> TemporaryDirectoryOf(const process::Command& command,
                                                         const SandboxSpec& sandbox) const;

  // The file helper (files/helper/helper_main.h) under `sandbox`, with a small environment.
  Result<process::Command> FileHelper(const SandboxSpec& sandbox) const;

 private:
  Result<process::Command> Launch(SandboxedCommand sandboxed, const SandboxSpec& sandbox) const;

  SandboxPrograms programs_;
  std::string tool_path_, server_tmpdir_;
  ServerDoors doors_;
};

}  // namespace holdfast::sandbox
