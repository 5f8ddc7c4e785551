// A ProcessEnding is the end that the server puts to a process on its own account: when a limit is reached, when the
// session ends, or when the server stops. The first cause counts, and none after the exit of the command.
#pragma once

#include <chrono>
#include <optional>

#include "loop/event_loop.h"
#include "process/process.h"
#include "wire/process_end_messages.h"

namespace holdfast::exec_server {

class ProcessEnding {
 public:
  struct Limits {
    std::optional<std::chrono::milliseconds> wall = {};  // from the execution of the command on
    std::chrono::milliseconds grace;                     // between SIGTERM and SIGKILL when it is reached
  };

  // `process` outlives this object.
  ProcessEnding(loop::EventLoop& loop, process::Process& process, const Limits& limits);

  // The command has been executed, so its time begins.
  void OnStarted();
  // No process is left that a limit could end.
  void OnGone() { wall_timer_.Stop(); }

  // Ends the process and every descendant: they get SIGTERM, and are killed after `grace`, or at once without a grace.
  void End(wire::EndCause cause, std::chrono::milliseconds grace);

  // Returns the end that the server has put to the command. Nothing before the exit.
  std::optional<wire::ProcessEnd> end() const;

 private:
  process::Process& process_;
  const Limits limits_;
  loop::Timer wall_timer_;
  std::optional<wire::EndCause> cause_;
};

}  // namespace holdfast::exec_server
