// A command that is run once when the server starts, to say what will not work here: each line it prints is logged as a
// warning. Nobody waits for it.
#pragma once

#include <memory>

#include "base/result.h"
#include "exec_server/runtime.h"
#include "process/process.h"

namespace holdfast::exec_server {

class StartupCheck final : private process::ProcessOwner {
 public:
  static Result<std::unique_ptr<StartupCheck>> Start(Runtime& runtime, const process::Command& command);

 private:
  void OnStarted(process::Process& process) override { process.ResumeOutput(); }
  void OnStartFailed(process::Process&, const Error&) override {}
  void OnOutput(process::Process&, const process::Chunk&) override {}
  void OnExited(process::Process&, uint64_t) override {}
  void OnClosed(process::Process& process, uint64_t seq) override;
  void OnGone(process::Process&) override {}
  bool WantsOutput() const override { return true; }

  std::unique_ptr<process::Process> process_;
};

}  // namespace holdfast::exec_server
