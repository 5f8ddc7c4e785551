// SandboxProgram makes the command by which the server starts the helper, holdfast-linux-sandbox. The policy goes to
// the helper in one descriptor, and the report on the start comes back by another.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/owned_fd.h"
#include "base/result.h"
#include "process/command/command.h"
#include "runtime_dir/runtime_dir.h"
#include "sandbox/backend.h"
#include "sandbox/helper_command/sealed_program.h"
#include "sandbox/helper_command/server_access.h"
#include "sandbox/plan/planner.h"
#include "sandbox/policy/sandbox_spec.h"
#include "sandbox/resolve/temporary_directory.h"
#include "sandbox/sandboxed_command.h"

namespace holdfast::sandbox {

// The programs as they were when the server started. They are executed by descriptor, so that a file which a command
// later puts in their place is never executed.
struct SandboxPrograms {
  SealedProgram helper;
  std::shared_ptr<const OwnedFd> bubblewrap = {};  // null: none was found, and the helper looks for one
  std::string directory = {};                      // the directory of the programs
};

// Returns the path of the helper, which lies in the directory of the running program.
std::string HelperPath();

// The files of these programs.
struct SandboxProgramPaths {
  std::string helper = HelperPath();
  std::string bubblewrap = {};  // empty: it is looked for in `tool_path`, and then beside the helper
};

// Opens the helper and bubblewrap, and begins to copy the helper. It is linked statically, because a dynamic program
// would run the code of a command's LD_PRELOAD outside of the sandbox. `tool_path` is not the PATH of a command, whose
// directories others may write to.
SandboxPrograms OpenSandboxPrograms(const SandboxProgramPaths& paths, const std::string& tool_path);

// A descriptor that the command inherits. The variable `name` tells it the number.
struct KeptDescriptor {
  std::string name;
  std::shared_ptr<const OwnedFd> fd;
};

// The things that the helper is given besides the command and its sandbox.
struct WrapOptions {
  // The socket of the supervisor that decides about every execve of the command (confine/exec_layer.h). Null: the
  // command is not supervised. A supervised command is wrapped also where the profile asks for no sandbox.
  std::shared_ptr<const OwnedFd> exec_supervisor = {};
  std::optional<KeptDescriptor> kept = {};
};

class SandboxProgram {
 public:
  SandboxProgram(SandboxPrograms programs, std::string tool_path, std::string server_tmpdir,
                 Backend backend = Backend::kAuto);

  // Waits until no change of the helper's file matters any longer. The server does so before a client may change files.
  void AwaitHelper() const { (void)programs_.helper.Await(); }

  // Every command that is wrapped after this call is kept away from the server.
  void KeepCommandsFrom(ServerAccess server) { server_access_ = std::move(server); }

  // Returns the command that runs `command` under `sandbox`.
  Result<process::Command> Wrap(const process::Command& command, const SandboxSpec& sandbox,
                                const WrapOptions& options = {}) const;

  // Return what a plan for `command` under `sandbox` depends on besides the policy (plan/planner.h). The descriptor of
  // the given roots is open as long as given_roots().
  static CommandPlace PlaceOf(const process::Command& command);
  static CommandPlace PlaceOfFileHelper();
  Guarded GuardedFor(const SandboxSpec& sandbox) const;

  // Returns the list of the writable roots that were given out (resolve/given_roots.h), which all sandboxes share.
  const Result<std::shared_ptr<const OwnedFd>>& given_roots() const { return given_roots_; }

  const ServerAccess& server_access() const { return server_access_; }

  // Returns the variables that `command` gets in a sandbox: its own without those that contain the server's secret, and
  // those that are added.
  process::Environment VariablesOf(const process::Command& command, const process::Environment& added = {}) const;

  // Returns the command that runs a jail, which is given the record of its plan and reads entries from `socket`. The
  // ruleset is null unless the plan shuts a port.
  Result<process::Command> Jail(const std::string& plan, std::shared_ptr<const OwnedFd> socket,
                                std::shared_ptr<const OwnedFd> port_ruleset) const;

  // Returns the directory that `command` wants for the place `:tmpdir`, if its environment names one and the sandbox
  // uses that place. The helper decides whether the directory is used, but it cannot tell the operator. Inspecting the
  // directory may block.
  std::optional<TemporaryDirectory> TemporaryDirectoryOf(const process::Command& command,
                                                         const SandboxSpec& sandbox) const;

  // Returns the command that runs the file helper (files/helper/helper_main.h) under `sandbox`, with a small
  // environment.
  Result<process::Command> FileHelper(const SandboxSpec& sandbox) const;

 private:
  bool NeedsPortRuleset(const SandboxSpec& sandbox) const;
  Result<std::shared_ptr<const OwnedFd>> PortRulesetFor(const SandboxSpec& sandbox) const;
  Result<process::Command> HelperCommand(SandboxedCommand sandboxed, const SandboxSpec& sandbox,
                                         const WrapOptions& options = {}) const;

  SandboxPrograms programs_;
  std::string tool_path_, server_tmpdir_;
  Backend backend_;
  ServerAccess server_access_;
  // Those of the server's environment: the helper has the environment of its command.
  std::vector<std::string> private_dirs_ = runtime_dir::PlacesOfRuntimeDir();
  Result<std::shared_ptr<const OwnedFd>> given_roots_;
};

}  // namespace holdfast::sandbox
