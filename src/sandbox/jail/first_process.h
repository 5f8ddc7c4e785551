// The life of pid 1 while the command runs: it passes signals on, stops and continues with the command, reaps what
// becomes its child, and answers where the filter asks.
//
// What it does not do: end a command that does not end by itself, while the outer stage is there. That kills pid 1
// then, and with it goes the whole namespace.
#pragma once

#include <sys/signalfd.h>
#include <sys/types.h>

#include <csignal>
#include <optional>

#include "base/owned_fd.h"
#include "sandbox/confine/set_group_id.h"
#include "sandbox/jail/lifeline.h"
#include "sandbox/jail/terminal.h"

namespace holdfast::sandbox {

// Has pid 1 of a sandbox, by its pidfd, pass `signal` on. Signals that reach pid 1 by themselves, because its whole
// process group gets them, are not passed on: the process that started the sandbox gets them too, and the command is to
// get them once. False when pid 1 has more orders waiting than the kernel keeps.
bool SendOrder(int pidfd, int signal);

class FirstProcess {
 public:
  // `command` leads a process group. Every signal is blocked, from before the command was started. The terminal is
  // absent when the command has a session of its own. The lifeline is armed.
  FirstProcess(pid_t command, const Terminal* terminal, const Lifeline* lifeline, SetGroupIdSupervisor& set_group_id)
      : command_(command), terminal_(terminal), lifeline_(lifeline), set_group_id_(set_group_id) {}

  // Until the command has ended: its exit code, or 128 + N after signal N. Or until the lifeline is cut.
  int Run();

 private:
  std::optional<int> Take(const signalfd_siginfo& signal);
  void PassOn(int signal);
  std::optional<int> Reap();
  void OnFlood();
  std::optional<int> EndWithoutZombie() const;
  void StopAlong(int signal);
  void Continue();

  const pid_t command_;
  const Terminal* const terminal_;
  const Lifeline* const lifeline_;
  SetGroupIdSupervisor& set_group_id_;
  bool flooded_ = false;                 // more children end than there is time to reap
  OwnedFd command_fd_;                   // a pidfd, when the kernel reaps by itself
  std::optional<pid_t> stopped_holder_;  // of the terminal, when the command was stopped
};

}  // namespace holdfast::sandbox
