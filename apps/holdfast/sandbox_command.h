// `holdfast sandbox`: the sandbox for people.
#pragma once

#include <memory>

#include "base/result.h"
#include "linux_sandbox/command_line.h"
#include "linux_sandbox/outcome.h"
#include "linux_sandbox/sandboxed_run.h"

namespace CLI {
class App;
}  // namespace CLI

namespace holdfast {

class SandboxCommand {
 public:
  explicit SandboxCommand(CLI::App& app, linux_sandbox::LegacyLandlock unless_set = linux_sandbox::LegacyLandlock::kNo);
  ~SandboxCommand();

  // After the command line was parsed; gives the exit status.
  int Run() const;

 private:
  struct Words;

  Result<linux_sandbox::LegacyLandlock> ChosenLandlock() const;
  Result<linux_sandbox::SandboxedRun> MakeRun() const;
  linux_sandbox::Outcome TryToRun() const;

  std::unique_ptr<Words> words_;
};

}  // namespace holdfast
