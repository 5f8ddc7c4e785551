#include "process/spawner.h"

#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>

#include "process/keeper_image.h"
#include "sys/executable_image.h"
#include "sys/file_limit.h"
#include "sys/io.h"
#include "sys/raw_children.h"

namespace holdfast::process {
namespace {

namespace raw = sys::raw;
using namespace std::chrono_literals;

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
    : image_(std::move(image)), file_limit_(file_limit), orphan_timer_(loop, [this] { AdoptOrphans(); }) {}

Result<StartedKeeper> Spawner::Start(const Command& command, const Io& io, StdioFds stdio) {
  TRY(sys::SocketPair control, sys::MakePacketPair());
  auto launch = std::make_unique<Launch>(command, io, file_limit_);
  TRY(sys::Child child, launch->Start(image_.get(), stdio, control.theirs.get()));
  keepers_.insert(child.pid);
  return StartedKeeper{std::move(child), std::move(control.ours), std::move(launch)};
}

void Spawner::Forget(pid_t keeper, sys::Ending ending) {
  keepers_.erase(keeper);
  if (ending == sys::Ending::kExitedCleanly) return;
  orphan_delay_ = kFirstOrphanDelay;
  AdoptOrphans();
}

// Whatever is our child and no keeper belonged to a keeper that was killed. Its own children come to us as it dies, so
// we look again until a look finds nothing.
void Spawner::AdoptOrphans() {
  ReapOrphans();
  bool found = false;
  raw::ForEachChild(::getpid(), [&](int pid) {
    if (keepers_.contains(pid)) return;
    found = true;
    orphans_.insert(pid);
    (void)::kill(pid, SIGKILL);  // an unreaped child: the number is still its own
  });
  ReapOrphans();
  if (!found) return;
  orphan_timer_.Start(orphan_delay_);
  orphan_delay_ = std::min(orphan_delay_ * 2, 1000ms);  // a set-uid program may not be ours to kill
}

void Spawner::ReapOrphans() {
  std::erase_if(orphans_, [](pid_t pid) { return ::waitpid(pid, nullptr, WNOHANG | __WALL) != 0; });
}

}  // namespace holdfast::process
