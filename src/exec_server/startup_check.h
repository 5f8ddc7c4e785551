// A command that is run once when the server starts, to say what will not work here: each line it prints is logged as a
// warning (`sandbox.limited`). When it does not get that far, that is logged instead, with the reason
// (`sandbox.unchecked`). The server does not wait for it: one that hangs says nothing.
#pragma once

#include <memory>

#include "base/result.h"
#include "loop/event_loop.h"
#include "process/process.h"
#include "process/spawner.h"

namespace holdfast::exec_server {

class StartupCheck final : private process::ProcessOwner {
 public:
  // An error is in the log already.
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
