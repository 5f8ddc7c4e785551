// A Launcher is the server's end of one launcher (native/jail_entry.h) and its keeper. The commands that the
// launcher has started do not depend on it: they go on when it has ended, and its keeper waits for them.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <utility>

#include "base/owned_fd.h"
#include "base/result.h"
#include "loop/event_loop.h"
#include "process/command/command.h"
#include "process/command_watch.h"
#include "process/spawner.h"

namespace holdfast::sandbox {

class Launcher final : private process::CommandObserver {
 public:
  enum class End { kByItself, kKilled };

  class Owner {
   public:
    virtual ~Owner() = default;
    // The launcher has ended. If it has done so by itself, `why` has the reason.
    virtual void OnLauncherEnded(Launcher& launcher, End end, const Error& why) = 0;
    // No process of the launcher or of its commands is alive. This is the last call.
    virtual void OnLauncherGone(Launcher& launcher) = 0;
  };

  // Starts the launcher. `command` is that of SandboxProgram::Launcher, and `socket` the server's end of its socket,
  // non-blocking.
  static Result<std::unique_ptr<Launcher>> Start(loop::EventLoop& loop, process::Spawner& spawner,
                                                 const process::Command& command, OwnedFd socket, Owner& owner);

  // Sends an entry, whose descriptors are in the order of EntryFd. Fails if the jail has ended, or if too many entries
  // wait.
  Result<> Send(std::span<const int> fds);

  // Closes the socket. The launcher answers the requests that are in it, and ends.
  void LetGo() { socket_.Reset(); }
  bool is_let_go() const { return !socket_.is_open(); }

  // Kills the launcher and all commands that it has started.
  void Kill() { watch_->KillAll(); }

 private:
  Launcher(OwnedFd socket, Owner& owner) : owner_(owner), socket_(std::move(socket)) {}

  void OnStarted(pid_t) override {}
  void OnStartFailed(process::StartStep step, int errno_value) override;
  void OnReport(const Result<process::Enforcement>& outcome) override;
  void OnExited(int wait_status) override;
  void OnGone() override;
  void TellEnded(End end, const Error& why);

  Owner& owner_;
  OwnedFd socket_;
  std::unique_ptr<process::CommandWatch> watch_;
  std::optional<Error> failure_;  // as the launcher has reported it
  bool told_ = false;
};

}  // namespace holdfast::sandbox
