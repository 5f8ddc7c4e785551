// The life of pid 1 while the command runs: it passes signals on, stops and continues with the command, and reaps what
// becomes its child.
//
// What it does not do: end a command that does not end by itself. The outer stage kills pid 1 for that, and with it
// goes the whole namespace.
#pragma once

#include <sys/types.h>

#include <csignal>
#include <optional>

#include "sandbox/terminal.h"

namespace holdfast::sandbox {

// Sends `signal` to pid 1 of a sandbox, by its pidfd, so that it knows it for an order. A signal to a whole process
// group may reach pid 1 by itself as well, and the command is to get it once.
void SendOrder(int pidfd, int signal);

class FirstProcess {
 public:
  // `command` leads a process group. Every signal is blocked, from before the command was started. The terminal is
  // absent when the command has a session of its own.
  FirstProcess(pid_t command, const Terminal* terminal) : command_(command), terminal_(terminal) {}

  // Until the command has ended: its exit code, or 128 + N after signal N.
  int Run();

 private:
  bool IsOrder(const siginfo_t& signal) const;
  void PassOn(int signal);
  std::optional<int> Reap();
  void StopAlong(int signal);
  void Continue();

  const pid_t command_;
  const Terminal* const terminal_;
  std::optional<pid_t> stopped_holder_;  // of the terminal, when the command was stopped
};

}  // namespace holdfast::sandbox
