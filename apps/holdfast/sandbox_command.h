// `holdfast sandbox`: the sandbox for people.
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
  explicit SandboxCommand(CLI::App& app, sandbox::LegacyLandlock unless_set = sandbox::LegacyLandlock::kNo);
  ~SandboxCommand();

  // After the command line was parsed; gives the exit status.
  int Run() const;

 private:
  struct Words;

  Result<sandbox::LegacyLandlock> ChosenLandlock() const;
  Result<sandbox::SandboxedCommand> MakeCommand() const;

  std::unique_ptr<Words> words_;
};

}  // namespace holdfast
