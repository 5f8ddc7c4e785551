// The subcommand `holdfast sandbox`, by which people run one command in a sandbox. Its flags become a SandboxedCommand,
// and the process becomes the helper with it.
#pragma once

#include <memory>

#include "base/result.h"
#include "sandbox/sandboxed_command.h"

namespace CLI {
class App;
}  // namespace CLI

namespace holdfast {

class SandboxCommand {
 public:
  // Adds the flags of the subcommand to `app`. `default_landlock` holds where neither a flag nor a file chooses.
  explicit SandboxCommand(CLI::App& app, sandbox::LegacyLandlock default_landlock = sandbox::LegacyLandlock::kNo);
  ~SandboxCommand();

  // Executes the helper, or prints the plan for --explain. The command line has to be parsed first. Returns the exit
  // status, if the helper was not executed.
  int Run() const;

 private:
  struct Options;

  Result<sandbox::LegacyLandlock> ChosenLandlock() const;
  Result<sandbox::SandboxedCommand> MakeCommand() const;

  std::unique_ptr<Options> options_;
};

}  // namespace holdfast
