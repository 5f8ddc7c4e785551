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

// A child may be on its memory. It stays known until then, so that it is no leak.
void Retire(std::unique_ptr<Launch> launch) {
  static auto& retired = *new std::vector<std::unique_ptr<Launch>>;
  std::erase_if(retired, [](const auto& other) { return !other->IsInUse(); });
  if (launch && launch->IsInUse()) retired.push_back(std::move(launch));
}

}  // namespace

Keeper::Keeper(loop::EventLoop& loop, Spawner& spawner, StartedKeeper started, KeeperObserver& observer)
    : loop_(loop),
      spawner_(spawner),
      observer_(observer),
      child_(std::move(started.child)),
      control_(std::move(started.control)),
      start_(std::move(started.start)),
      launch_(std::move(started.launch)),
      kill_patience_(kKillPatience + launch_->grace()),
      control_watch_(loop, control_.get(), [this] { OnReport(); }),
      start_watch_(std::in_place, loop, start_.get(), [this] { OnStart(); }),
      kill_timer_(loop, [this] { sys::SendSignal(child_.pidfd.get(), SIGKILL); }) {
  control_watch_.WatchReadable();
  start_watch_->WatchReadable();
}

// Memory that a start under way still uses is left to it.
Keeper::~Keeper() {
  if (launch_) launch_->FreeSlot();
  Retire(std::move(launch_));
}

void Keeper::Signal(int signal) { Order({KeeperOrderKind::kSignal, signal}); }

void Keeper::KillAll() {
  Order({KeeperOrderKind::kKill, 0});
  if (!kill_timer_.running()) kill_timer_.Start(kill_patience_);
}

void Keeper::Order(KeeperOrder order) {
  // A command can stop its parent, but must not become unstoppable by that.
  sys::SendSignal(child_.pidfd.get(), SIGCONT);
  // The socket fails only when the keeper is gone or will not read: OnEnded or the kill timer settles both.
  (void)::send(control_.get(), &order, sizeof order, MSG_NOSIGNAL | MSG_DONTWAIT);
}

// The kernel closes the pipe when it executes the command, which no keeper needs to be awake for. A command that could
// not be executed has said so before; without a command the keeper has been killed, and OnGone follows.
void Keeper::OnStart() {
  KeeperReport failure;
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

void Keeper::OnReport() {
  KeeperReport report;
  ssize_t size = sys::Read(control_.get(), &report, sizeof report);
  if (size == 0) return OnEnded();
  control_watch_.WatchReadable();
  if (size == sizeof report) Dispatch(report);
}

// The kernel closes the socket a moment before the process can be reaped.
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

// What has ended has been started before, or has failed to: that stands in the pipe then.
void Keeper::Dispatch(const KeeperReport& report) {
  if (start_.is_open()) OnStart();
  if (!has_failed_) observer_.OnExited(report.value);
}

}  // namespace holdfast::process
