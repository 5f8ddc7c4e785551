// An OutsideCommand is a command that a sandboxed process wanted to execute and that runs outside of the sandbox
// instead, with the descriptors and the state of that process. It runs under a keeper: nothing that it leaves behind
// outlives it or the server.
#pragma once

#include <functional>
#include <memory>

#include "base/result.h"
#include "escalate/outside/outside_observer.h"
#include "escalate/outside/outside_order.h"
#include "loop/event_loop.h"
#include "process/spawner.h"

namespace holdfast::escalate {

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
