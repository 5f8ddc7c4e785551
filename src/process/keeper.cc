#include "process/keeper.h"

#include <sys/socket.h>

#include <cerrno>
#include <csignal>
#include <memory>
#include <utility>
#include <vector>

#include "sys/io.h"

namespace holdfast::process {
namespace {

using namespace std::chrono_literals;
constexpr auto kKillPatience = 1s;

// Keeps the memory of a start as long as a child still runs on it. A static list refers to that memory, so that it does
// not count as a leak.
void Retire(std::unique_ptr<Launch> launch) {
  static auto& retired = *new std::vector<std::unique_ptr<Launch>>;
  std::erase_if(retired, [](const auto& other) { return !other->IsInUse(); });
  if (launch && launch->IsInUse()) retired.push_back(std::move(launch));
}

}  // namespace

Keeper::Keeper(loop::EventLoop& loop, Spawner& spawner, StartedKeeper started, CommandObserver& observer)
    : loop_(loop),
      spawner_(spawner),
      observer_(observer),
      child_(std::move(started.child)),
      control_(std::move(started.control)),
      start_(std::move(started.start)),
      launch_(std::move(started.launch)),
      kill_patience_(kKillPatience + launch_->grace()),
      control_watch_(loop, control_.get(), [this] { OnEvent(); }),
      start_watch_(std::in_place, loop, start_.get(), [this] { OnStart(); }),
      kill_timer_(loop, [this] { sys::SendSignal(child_.pidfd.get(), SIGKILL); }) {
  control_watch_.WatchReadable();
  start_watch_->WatchReadable();
}

// The memory of a start that is still under way is kept for it.
Keeper::~Keeper() {
  if (launch_) launch_->FreeSlot();
  Retire(std::move(launch_));
}

void Keeper::Signal(int signal) { Send({KeeperInstructionKind::kSignal, signal}); }

void Keeper::KillAll() {
  Send({KeeperInstructionKind::kKill, 0});
  if (!kill_timer_.running()) kill_timer_.Start(kill_patience_);
}

void Keeper::Send(KeeperInstruction instruction) {
  // A command can stop the keeper, its parent, but must not escape a signal or a kill by that.
  sys::SendSignal(child_.pidfd.get(), SIGCONT);
  // Sending fails only if the keeper is gone or does not read. OnEnded handles the first, the kill timer the second.
  (void)::send(control_.get(), &instruction, sizeof instruction, MSG_NOSIGNAL | MSG_DONTWAIT);
}

// The kernel closes the pipe when it executes the command, so the keeper need not be running for that. If the command
// could not be executed, the failure stands in the pipe. If there is no command at all, the keeper has been killed, and
// OnGone follows.
void Keeper::OnStart() {
  KeeperEvent failure;
  const ssize_t size = sys::Read(start_.get(), &failure, sizeof failure);
  if (size == -EAGAIN) return start_watch_->WatchReadable();
  start_watch_.reset();
  start_.Reset();
  const pid_t command = launch_->command_pid();
  launch_->FreeSlot();
  Retire(std::move(launch_));
  has_failed_ = size == sizeof failure;
  if (has_failed_) return observer_.OnStartFailed(failure.step, failure.value);
  if (command > 0) observer_.OnStarted(command);
}

void Keeper::OnEvent() {
  KeeperEvent event;
  ssize_t size = sys::Read(control_.get(), &event, sizeof event);
  if (size == 0) return OnEnded();
  control_watch_.WatchReadable();
  if (size == sizeof event) Dispatch(event);
}

// The kernel closes the control socket a moment before the keeper can be reaped.
void Keeper::OnEnded() {
  sys::Ending ending = sys::TryReap(child_.pidfd.get());
  if (ending == sys::Ending::kStillRunning) {
    if (!end_watch_) end_watch_.emplace(loop_, child_.pidfd.get(), [this] { OnEnded(); });
    return end_watch_->WatchReadable();
  }
  kill_timer_.Stop();
  end_watch_.reset();
  spawner_.Forget(child_.pid, ending, [this] { observer_.OnGone(); });
}

// A command that has exited or stopped was started before, or failed to start. The start pipe tells which, so it is
// read first.
void Keeper::Dispatch(const KeeperEvent& event) {
  if (start_.is_open()) OnStart();
  if (has_failed_) return;
  if (event.kind == KeeperEventKind::kStopped) return observer_.OnStopped(event.value, event.continue_count);
  observer_.OnExited(event.value);
}

}  // namespace holdfast::process
