// The startup check is a command that the server runs once when it starts. The command prints one line for each thing
// that will not work on this machine, and the server logs each line as a warning (`sandbox.limited`). If the command
// cannot be started, fails, or prints anything else, the server logs that with the reason (`sandbox.unchecked`). The
// server does not wait for the command, so nothing is logged about a command that hangs.
#pragma once

#include <memory>

#include "base/result.h"
#include "loop/event_loop.h"
#include "process/process.h"
#include "process/spawner.h"

namespace holdfast::exec_server {

class StartupCheck final : private process::ProcessOwner {
 public:
  // Logs the error before it returns it.
  static Result<std::unique_ptr<StartupCheck>> Start(loop::EventLoop& loop, process::Spawner& spawner,
                                                     const process::Command& command);

 private:
  void OnStarted(process::Process& process) override { process.ResumeOutput(); }
  void OnStartFailed(process::Process& process, const Error& error) override;
  void OnOutput(process::Process&, const process::Chunk&) override {}
  void OnExited(process::Process&, uint64_t) override {}
  void OnClosed(process::Process& process, uint64_t seq) override;
  void OnGone(process::Process&) override {}
  bool WantsOutput() const override { return true; }

  std::unique_ptr<process::Process> process_;
};

}  // namespace holdfast::exec_server
