// The WrapperServer decides about the programs that one call of a patched shell executes. The shell executes the execve
// wrapper in the place of each program, and the wrapper asks here. There is one server for each call of a shell; it
// runs on the loop.
//
// What it does not stop: a shell or another program that does not use the wrapper, or a process that pretends to be
// the wrapper and executes something else after the answer Run. Both stay in the sandbox. A command is taken out of the
// sandbox only by a decision about exactly the arguments that then run outside.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/owned_fd.h"
#include "base/result.h"
#include "escalate/approver.h"
#include "escalate/wrapper_server/options.h"
#include "loop/event_loop.h"
#include "loop/worker_pool.h"

namespace holdfast::escalate {

class WrapperServer {
 public:
  // `loop`, `workers` and `approver` outlive the server.
  static Result<std::unique_ptr<WrapperServer>> Create(loop::EventLoop& loop, loop::WorkerPool& workers,
                                                       Approver& approver, WrapperServerOptions options);
  // Kills the commands outside. Wrappers that wait for an answer end with 1.
  virtual ~WrapperServer() = default;

  // The socket that the shell inherits, with all that it starts. Its number is the value of kSocketVariable
  // (messages/messages.h).
  virtual std::shared_ptr<const OwnedFd> client_socket() const = 0;

  // The number of wrappers that wait for a decision or for a command outside.
  virtual size_t sessions() const = 0;
};

// Returns the variables by which shells find the wrapper.
std::vector<std::pair<std::string, std::string>> WrapperVariables(const std::string& wrapper_path);

}  // namespace holdfast::escalate
