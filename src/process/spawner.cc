#include "process/spawner.h"

#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <utility>

#include "process/keeper_image.h"
#include "sys/executable_image.h"
#include "sys/file_limit.h"
#include "sys/io.h"
#include "sys/raw_children.h"

namespace holdfast::process {
namespace {

namespace raw = sys::raw;
using namespace std::chrono_literals;

constexpr auto kLastOrphanDelay = 1s;  // without progress for that long, nobody waits any more
constexpr auto kCareInterval = 1s;

}  // namespace

Result<std::unique_ptr<Spawner>> Spawner::Create(loop::EventLoop& loop) {
  (void)std::signal(SIGCHLD, SIG_DFL);  // ignored by whoever started us, it would reap our children unseen
  if (::prctl(PR_SET_CHILD_SUBREAPER, 1) < 0) return std::unexpected(ErrnoError("prctl", "subreaper", errno));
  if (long error = raw::ForEachChild(::getpid(), [](int) {}); error < 0) {
    return std::unexpected(ErrnoError("read", "/proc", static_cast<int>(-error)));
  }
  TRY(rlimit file_limit, sys::RaiseFileLimit());
  TRY(OwnedFd image, sys::MakeExecutableImage("holdfast-keeper", KeeperImage()));
  return std::unique_ptr<Spawner>(new Spawner(loop, std::move(image), file_limit));
}

Spawner::Spawner(loop::EventLoop& loop, OwnedFd image, rlimit file_limit)
    : image_(std::move(image)),
      file_limit_(file_limit),
      orphan_timer_(loop, [this] { AdoptOrphans(); }),
      care_timer_(loop, [this] { LookAfter(); }) {}

Result<StartedKeeper> Spawner::Start(const Command& command, const Io& io, StdioFds stdio) {
  TRY(sys::SocketPair control, sys::MakePacketPair());
  auto launch = std::make_unique<Launch>(command, io, file_limit_);
  TRY(sys::Child child, launch->Start(image_.get(), stdio, control.theirs.get()));
  keepers_.insert(child.pid);
  if (!care_timer_.running()) care_timer_.Start(kCareInterval);
  return StartedKeeper{std::move(child), std::move(control.ours), std::move(launch)};
}

void Spawner::Forget(pid_t keeper, sys::Ending ending, loop::Callback when_gone) {
  keepers_.erase(keeper);
  if (ending == sys::Ending::kExitedCleanly) return when_gone();
  when_orphans_gone_.push_back(std::move(when_gone));
  orphan_delay_ = kFirstOrphanDelay;
  AdoptOrphans();
}

// Whatever is our child and no keeper belonged to a keeper that was killed. Its own children come to us as it dies, so
// we look again, soon as long as that gets us on, until a look finds nothing.
void Spawner::AdoptOrphans() {
  bool progress = ReapOrphans();
  raw::ForEachChild(::getpid(), [&](int pid) {
    if (keepers_.contains(pid)) return;
    progress |= orphans_.insert(pid).second;
    (void)::kill(-pid, SIGKILL);  // its group, if it leads one: an unreaped child's number is still its own
    (void)::kill(pid, SIGKILL);
  });
  if (!orphans_.empty() && orphan_delay_ < kLastOrphanDelay) {
    orphan_delay_ = progress ? kFirstOrphanDelay : orphan_delay_ * 2;
    return orphan_timer_.Start(orphan_delay_);
  }
  for (loop::Callback& callback : std::exchange(when_orphans_gone_, {})) callback();
}

bool Spawner::ReapOrphans() {
  return std::erase_if(orphans_, [](pid_t pid) { return ::waitpid(pid, nullptr, WNOHANG | __WALL) != 0; }) > 0;
}

// Runs on its own for as long as there is a keeper, so it is there when one is lost.
void Spawner::LookAfter() {
  WakeStoppedKeepers();
  if (!orphans_.empty() && !orphan_timer_.running()) AdoptOrphans();
  if (!keepers_.empty() || !orphans_.empty()) care_timer_.Start(kCareInterval);
}

// A command can stop its parent; nobody would hear of its exit then.
void Spawner::WakeStoppedKeepers() {
  siginfo_t stopped = {};
  while (::waitid(P_ALL, 0, &stopped, WSTOPPED | WNOHANG) == 0 && stopped.si_pid != 0) {
    (void)::kill(stopped.si_pid, SIGCONT);
    stopped = {};
  }
}

}  // namespace holdfast::process
