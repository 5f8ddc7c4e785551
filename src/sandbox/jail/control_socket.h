// The control socket connects pid 1 of a sandbox with the server, when a launcher has started pid 1. It carries the
// messages of a keeper (process/keeper/protocol.h), because pid 1 is the keeper of its command then. It is the lifeline
// too: when the server has closed its end, pid 1 ends, and with it everything in its pid namespace.
//
// It is written and read as a file, because the filter, under which pid 1 is, has rules about messages of sockets.
#pragma once

#include <optional>

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

  // Tells the server that the answer about the start comes from pid 1: it is about to start the command, or to report
  // why it cannot. Returns false when the server is gone.
  bool SendBegun() const;

  // Tells the server the end of the command, with the status that wait4 has returned. Waits for room in the socket.
  void SendExited(int wait_status) const;

  // Returns the next instruction, if there is one. The end of the socket, and a message that is no instruction, count
  // as the instruction to kill.
  std::optional<process::KeeperInstruction> Receive() const;

  int fd() const { return fd_; }

 private:
  bool Send(const process::KeeperEvent& event) const;

  const int fd_;
};

}  // namespace holdfast::sandbox
