#include "process/keeper.h"

#include <sys/socket.h>

#include <csignal>
#include <memory>
#include <utility>
#include <vector>

#include "sys/io.h"

namespace holdfast::process {
namespace {

using namespace std::chrono_literals;
constexpr auto kKillPatience = 1s;

// For good: a child may be on it. It stays known, so that it is no leak.
void Abandon(std::unique_ptr<Launch> launch) {
  static auto& abandoned = *new std::vector<std::unique_ptr<Launch>>;
  abandoned.push_back(std::move(launch));
}

}  // namespace

Keeper::Keeper(loop::EventLoop& loop, Spawner& spawner, StartedKeeper started, KeeperObserver& observer)
    : loop_(loop),
      spawner_(spawner),
      observer_(observer),
      child_(std::move(started.child)),
      control_(std::move(started.control)),
      launch_(std::move(started.launch)),
      kill_patience_(kKillPatience + launch_->grace()),
      control_watch_(loop, control_.get(), [this] { OnReport(); }),
      kill_timer_(loop, [this] { sys::SendSignal(child_.pidfd.get(), SIGKILL); }) {
  control_watch_.WatchReadable();
}

// Memory that a start under way still uses is left to it.
Keeper::~Keeper() {
  if (launch_) Abandon(std::move(launch_));
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
  // The command of a keeper that was killed during the start may be on our memory until it is dead itself.
  spawner_.Forget(child_.pid, ending, [this] {
    launch_.reset();
    observer_.OnGone();
  });
}

void Keeper::Dispatch(const KeeperReport& report) {
  switch (report.kind) {
    case KeeperReportKind::kStarted:
      launch_.reset();
      return observer_.OnStarted(report.value);
    case KeeperReportKind::kStartFailed:
      return observer_.OnStartFailed(report.step, report.value);
    case KeeperReportKind::kExited:
      return observer_.OnExited(report.value);
  }
}

}  // namespace holdfast::process
