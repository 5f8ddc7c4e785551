// An OutsideCommand is a command that a sandboxed process wanted to execute and that runs outside of the sandbox
// instead, with the descriptors and the state of that process. It runs under a keeper: nothing that it leaves behind
// outlives it or the server.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "base/result.h"
#include "escalate/outside/outside_order.h"
#include "loop/event_loop.h"
#include "process/spawner.h"

namespace holdfast::escalate {

// The end of a command: an exit code, or the signal that killed it.
struct Ending {
  int exit_code = 0;
  int signal = 0;           // 0: the command has exited
  std::string reason = {};  // of a command that could not be started and has said nothing itself

  friend bool operator==(const Ending&, const Ending&) = default;
};

class OutsideObserver {
 public:
  virtual ~OutsideObserver() = default;
  // `continue_count` is the number of times that Signal has passed SIGCONT on before the stop. If the owner has passed
  // it on more often, the stop does not last.
  virtual void OnStopped(int signal, unsigned continue_count) = 0;
  // A command that could not be executed ends with 126 or 127, as in a shell. This is the last call. The processes that
  // the command left behind are killed. The owner may destroy the command in this call and in OnStopped.
  virtual void OnEnded(const Ending& ending) = 0;
};

class OutsideCommand {
 public:
  // Starts the command. All calls run on the loop's thread. `observer` outlives the command. Fails if a text of the
  // order has a NUL, or the descriptors cannot be passed.
  static Result<std::unique_ptr<OutsideCommand>> Start(loop::EventLoop& loop, process::Spawner& spawner,
                                                       OutsideOrder order, OutsideObserver& observer);
  // Kills the command and everything that it has started. It does not wait for their end.
  virtual ~OutsideCommand() = default;

  // Passes a signal on to the command's process group. A signal that comes before the command's own signal mask is in
  // place is passed on then.
  virtual void Signal(int signal) = 0;
};

// Starts a command outside of the sandbox: OutsideCommand::Start, or a fake.
using StartOutside =
    std::function<Result<std::unique_ptr<OutsideCommand>>(OutsideOrder order, OutsideObserver& observer)>;

}  // namespace holdfast::escalate
