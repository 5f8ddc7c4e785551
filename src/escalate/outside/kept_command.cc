#include "escalate/outside/kept_command.h"

#include <sys/wait.h>

#include <csignal>
#include <utility>

#include "base/result.h"
#include "sys/exit_codes.h"

namespace holdfast::escalate {
namespace {

Ending EndingOf(int wait_status) {
  if (WIFSIGNALED(wait_status)) return {.signal = WTERMSIG(wait_status)};
  return {.exit_code = WEXITSTATUS(wait_status)};
}

}  // namespace

KeptCommand::KeptCommand(loop::EventLoop& loop, process::Spawner& spawner, process::StartedKeeper started,
                         OwnedFd starter, OutsideObserver& observer)
    : loop_(loop),
      spawner_(spawner),
      observer_(&observer),
      starter_(std::move(starter)),
      starter_watch_(std::in_place, loop, starter_.get(), [this] { OnSignalsInPlace(); }),
      keeper_(loop, spawner, std::move(started), static_cast<process::CommandObserver&>(*this)) {
  starter_watch_->WatchReadable();
}

// A signal that comes too early would kill the starter, although the command blocks or ignores it.
void KeptCommand::Signal(int signal) {
  if (starter_watch_) {
    waiting_signals_.push_back(signal);
  } else {
    keeper_.Signal(signal);
  }
}

// The starter sends nothing; it closes the socket.
void KeptCommand::OnSignalsInPlace() {
  starter_watch_.reset();
  starter_.Reset();
  for (const int signal : std::exchange(waiting_signals_, {})) keeper_.Signal(signal);
}

void KeptCommand::Abandon() {
  observer_ = nullptr;
  is_abandoned_ = true;
  spawner_.Adopt(shared_from_this());
  is_gone_ ? PostRelease() : keeper_.KillAll();
}

// The keeper has not executed the starter. The failures of the starter itself are exit codes.
void KeptCommand::OnStartFailed(process::StartStep, int errno_value) {
  End({.exit_code = sys::kCannotExecute, .reason = "start outside of the sandbox: " + ErrnoText(errno_value)});
}

void KeptCommand::OnStopped(int signal, unsigned continue_count) {
  if (observer_ != nullptr) observer_->OnStopped(signal, continue_count);
}

void KeptCommand::OnExited(int wait_status) {
  keeper_.KillAll();
  End(EndingOf(wait_status));
}

// A keeper that was killed has told no exit, and the kernel has killed the command with it.
void KeptCommand::OnGone() {
  is_gone_ = true;
  if (is_abandoned_) return PostRelease();
  End({.signal = SIGKILL});
}

void KeptCommand::End(const Ending& ending) {
  OutsideObserver* const observer = std::exchange(observer_, nullptr);
  if (observer != nullptr) observer->OnEnded(ending);
}

// The keeper calls OnGone, and cannot be destroyed by its own call.
void KeptCommand::PostRelease() {
  loop_.Post([weak = weak_from_this()] {
    if (const auto command = weak.lock()) command->spawner_.Release(command.get());
  });
}

}  // namespace holdfast::escalate
