// A supervisor of execve for tests: the other end of sandbox/confine/exec_layer.h. It takes the listener over and
// answers as the test says.
#pragma once

#include <optional>
#include <string>

#include "base/owned_fd.h"
#include "sys/io.h"

namespace holdfast::support {

class ExecSupervisor {
 public:
  ExecSupervisor();

  // The end of the socket that the supervised program inherits. The test closes it once the program has it.
  OwnedFd& helper_end() { return pair_.theirs; }

  // Waits for the listener. Returns false if the program has closed its end instead. A wait that takes longer than any
  // test should take fails the test.
  bool ReceiveListener();
  // Tells the program that the listener has arrived.
  void Confirm() const;
  void HangUp() { pair_.ours.Reset(); }

  // Waits for an execve and answers it: it goes on, or fails with `error`. Returns the path that the caller has passed,
  // or nothing when no process that could call is left.
  std::optional<std::string> Continue() const;
  std::optional<std::string> Refuse(int error) const;

 private:
  std::optional<std::string> Answer(int error) const;

  sys::SocketPair pair_;
  OwnedFd listener_;
};

}  // namespace holdfast::support
