// A LaunchedSandbox is the server's end of pid 1 of a sandbox that a launcher has been asked to make for one command.
// pid 1 speaks the protocol of a keeper (keeper/protocol.h) on the control socket of the command. It is a child of the
// launcher and not of the server, and goes on when the launcher has ended.
//
// Until pid 1 has announced that it begins to start the command, the command has not run: if the control socket ends
// before, the observer may start the command in another way.
#pragma once

#include <sys/types.h>

#include <optional>

#include "base/owned_fd.h"
#include "base/result.h"
#include "loop/event_loop.h"
#include "process/command/start_report.h"
#include "process/command_watch.h"
#include "sys/io.h"

namespace holdfast::process {

class LaunchedSandbox final : public CommandWatch {
 public:
  // Makes the control socket of a command, with the server's end as `ours`. The kernel adds the pid of the sender to
  // every event that comes there. It has to do so from the beginning: an event may come as soon as the launcher has the
  // other end, before there is a LaunchedSandbox.
  static Result<sys::SocketPair> MakeControl();

  // `control` is the server's end of a socket that MakeControl has made.
  LaunchedSandbox(loop::EventLoop& loop, OwnedFd control, CommandObserver& observer);

  void Signal(int signal) override;

  // Has pid 1 kill everything. If it has not ended after a second, it is killed itself, and the kernel kills the rest;
  // if there is no pid 1 yet, the request counts as lost.
  void KillAll() override;

 private:
  struct Received;

  void Send(KeeperInstruction instruction);
  void OnReadable();
  Received Receive() const;
  void OnBegun(pid_t sender);
  void Report(const Result<Enforcement>& outcome);
  void OnControlEnded();
  void OnEnded();
  void OnKillTimer();
  void GiveUp();

  loop::EventLoop& loop_;
  CommandObserver& observer_;
  OwnedFd control_;
  OwnedFd first_process_;  // the pidfd of pid 1, once it is known
  bool begun_ = false;
  bool reported_ = false;  // pid 1 has said whether the command was started
  loop::FdWatch control_watch_;
  std::optional<loop::FdWatch> end_watch_;  // present once the control socket has ended
  loop::Timer kill_timer_;
};

}  // namespace holdfast::process
