// The control socket connects pid 1 of a sandbox with the server, when a launcher has started pid 1. It carries the
// messages of a keeper (process/keeper/protocol.h), because pid 1 is the keeper of its command then. It is the lifeline
// too: when the server has closed its end, pid 1 ends, and with it everything in its pid namespace.
//
// It is written and read as a file, because the filter, under which pid 1 is, has rules about messages of sockets.
#pragma once

#include <optional>
#include <string_view>

#include "base/result.h"
#include "process/keeper/protocol.h"

namespace holdfast::sandbox {

// ControlSocket is the end of pid 1. It does not own the descriptor.
class ControlSocket {
 public:
  explicit ControlSocket(int fd) : fd_(fd) {}

  // Makes the descriptor close-on-exec, so that the command does not get it, and makes reads return at once. SIGPIPE
  // must be blocked.
  Result<> Arm() const;

  // Returns whether the server has closed its end.
  bool IsCut() const;

  // Sends an event (process/keeper/protocol.h), with a text behind it that may be cut. Waits for room in the socket.
  // Returns false when the server is gone; then no process waits for an event.
  bool Send(process::KeeperEventKind kind, int value = 0, std::string_view text = {}) const;

  // Returns the next instruction, if there is one. The end of the socket, and a message that is no instruction, count
  // as the instruction to kill.
  std::optional<process::KeeperInstruction> Receive() const;

  int fd() const { return fd_; }

 private:
  const int fd_;
};

}  // namespace holdfast::sandbox
