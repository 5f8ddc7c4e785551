// FirstProcess is pid 1 of a sandbox while the command runs. It passes signals on, stops and continues together with
// the command, reaps orphans that become its children, and answers the filter's questions about the set-group-ID bit.
// The lifeline tells which signals it passes on. It does not pass on those that reach it directly because its whole
// process group gets them: the outer stage gets these too and asks for them, and the command must get them once.
// With a control socket, which a launcher has passed to it, it obeys the server as a keeper does.
//
// What it does not stop: a command that does not end by itself, while the outer stage is there. The outer stage kills
// pid 1 then, and the kernel kills the whole pid namespace with it.
#pragma once

#include <sys/signalfd.h>
#include <sys/types.h>

#include <csignal>
#include <optional>

#include "base/owned_fd.h"
#include "process/keeper/protocol.h"
#include "sandbox/confine/set_group_id.h"
#include "sandbox/jail/control_socket.h"
#include "sandbox/jail/lifeline.h"
#include "sandbox/jail/terminal.h"

namespace holdfast::sandbox {

// The connections of pid 1. A control socket is armed; no process has both a lifeline and a control socket.
struct FirstProcessLinks {
  const Terminal* terminal = nullptr;  // null when the command has a session of its own
  const Lifeline* lifeline = nullptr;
  const ControlSocket* control = nullptr;
};

class FirstProcess {
 public:
  // `command` leads a process group. All signals have been blocked since before the command was started.
  FirstProcess(pid_t command, const FirstProcessLinks& links, SetGroupIdSupervisor& set_group_id)
      : command_(command),
        terminal_(links.terminal),
        lifeline_(links.lifeline),
        control_(links.control),
        set_group_id_(set_group_id) {}

  // Runs until the command has ended, and returns the status that wait4 has returned for it. Returns early when the
  // lifeline is cut.
  int Run();

  // Kills every other process of the pid namespace, and waits until none is left.
  static void EndAll();

 private:
  void OnSignal(const signalfd_siginfo& signal);
  void PassOn(int signal);
  void Obey(const process::KeeperInstruction& instruction);
  std::optional<int> Reap();
  void OnFlood();
  std::optional<int> EndWithoutZombie() const;
  void StopAlong(int signal);
  void Continue();

  const pid_t command_;
  const Terminal* const terminal_;
  const Lifeline* const lifeline_;
  const ControlSocket* const control_;
  SetGroupIdSupervisor& set_group_id_;
  bool killing_ = false;                     // the server has had everything killed, or is gone
  bool flooded_ = false;                     // more children end than there is time to reap
  OwnedFd command_fd_;                       // the command's pidfd, open while the kernel reaps children by itself
  std::optional<pid_t> stopped_foreground_;  // of the terminal, when the command was stopped
};

}  // namespace holdfast::sandbox
