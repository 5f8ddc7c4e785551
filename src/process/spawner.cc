#include "process/spawner.h"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <optional>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "base/parse_number.h"
#include "process/keeper_image.h"
#include "sys/executable_image.h"
#include "sys/exit_status.h"
#include "sys/file_limit.h"
#include "sys/io.h"
#include "sys/kept_status.h"
#include "sys/pidfd.h"
#include "sys/raw_children.h"

namespace holdfast::process {
namespace {

namespace raw = sys::raw;
using namespace std::chrono_literals;

enum class Reaping { kByUs, kByKernel };

// After a delay of this length without progress the callbacks stop waiting for the orphans.
constexpr auto kLastOrphanDelay = 1s;
constexpr auto kCareInterval = 1s;

// A look for orphans yields to the loop after this many processes, some 0.4 ms, and continues after kTurnDelay.
constexpr int kProcessesPerTurn = 256;
constexpr auto kTurnDelay = 1ms;

// One look can miss a process that forks and exits: pids start from the beginning again at some point, and the child
// may get a pid that the look has passed already. That does not happen in two looks in a row.
constexpr int kLooksToBeSure = 2;

// Without zombies, orphans that fork and exit cannot keep the loop busy with reaping. If a keeper ends meanwhile, its
// ending is unknown (sys::TryReap), and the spawner looks for orphans as if the keeper had been killed.
void SetReaping(Reaping reaping) {
  struct sigaction action = {};
  action.sa_flags = reaping == Reaping::kByKernel ? SA_NOCLDWAIT : 0;
  (void)::sigaction(SIGCHLD, &action, nullptr);  // fails only for a bad signal
}

// Returns the parent of a process; nothing if the process is gone. The second field of the file is the name of the
// program in parentheses, in which any character may stand.
std::optional<pid_t> ParentOf(int proc, pid_t pid) {
  const OwnedFd file(::openat(proc, fmt::format("{}/stat", pid).c_str(), O_RDONLY | O_CLOEXEC));
  std::array<char, 512> bytes;
  const ssize_t size = sys::Read(file.get(), bytes.data(), bytes.size());
  std::string_view text(bytes.data(), size < 0 ? 0 : static_cast<size_t>(size));
  text = text.substr(std::min(text.rfind(')'), text.size()));
  constexpr size_t state_bytes = 4;  // ") S "
  if (text.size() < state_bytes) return std::nullopt;
  text.remove_prefix(state_bytes);
  return ParseNumber<pid_t>(text.substr(0, text.find(' ')));
}

}  // namespace

Result<std::unique_ptr<Spawner>> Spawner::Create(loop::EventLoop& loop) {
  SetReaping(Reaping::kByUs);  // the program that started the server may have ignored SIGCHLD
  if (::prctl(PR_SET_CHILD_SUBREAPER, 1) < 0) return FailErrno("prctl", "subreaper");
  OwnedFd proc(::open("/proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!proc.is_open()) return FailErrno("open", "/proc");
  TRY(const rlimit own_limit, sys::RaiseFileLimit());
  TRY(OwnedFd image, sys::MakeExecutableImage("holdfast-keeper", KeeperImage()));
  TRY(auto slots, StartSlots::Create());
  const LaunchSettings settings{.file_limit = sys::FileLimitOfCommands(own_limit),
                                .helper_file_limit = sys::FileLimitOfHelpers(own_limit),
                                .kernel_keeps_status = sys::KeepsExitStatus()};
  return std::unique_ptr<Spawner>(new Spawner(loop, std::move(image), std::move(proc), std::move(slots), settings));
}

Spawner::Spawner(loop::EventLoop& loop, OwnedFd image, OwnedFd proc, std::unique_ptr<StartSlots> slots,
                 const LaunchSettings& settings)
    : image_(std::move(image)),
      proc_(std::move(proc)),
      slots_(std::move(slots)),
      settings_(settings),
      processes_{.proc = proc_.get()},
      orphan_timer_(loop, [this] { LookForOrphans(); }),
      care_timer_(loop, [this] { LookAfter(); }) {}

Result<StartedKeeper> Spawner::Start(const Command& command, const Io& io, StdioFds stdio) {
  TRY(sys::SocketPair control, sys::MakePacketPair());
  TRY(sys::Pipe start, sys::MakePipe(sys::OurEnd::kRead));
  auto launch = std::make_unique<Launch>(command, io, settings_);
  const LaunchFds fds{.image = image_.get(),
                      .stdio = stdio,
                      .control = control.ours.get(),
                      .keeper_control = control.theirs.get(),
                      .start = start.write_end.get()};
  TRY(sys::Child child, launch->Start(*slots_, fds));
  keepers_.insert(child.pid);
  if (!care_timer_.running()) care_timer_.Start(kCareInterval);
  return StartedKeeper{std::move(child), std::move(control.ours), std::move(start.read_end), std::move(launch)};
}

void Spawner::Forget(pid_t keeper, sys::Ending ending, loop::Callback when_gone) {
  keepers_.erase(keeper);
  if (ending == sys::Ending::kExitedCleanly) return when_gone();
  when_orphans_gone_.push_back(std::move(when_gone));
  orphan_delay_ = kFirstOrphanDelay;
  looks_without_orphan_ = 0;
  if (!orphan_timer_.running()) LookForOrphans();
}

void Spawner::Release(const void* object) {
  std::erase_if(adopted_, [object](const auto& adopted) { return adopted.get() == object; });
}

// Every child of the server that is not a keeper belonged to a keeper that was killed. When it dies, its own children
// become children of the server. The spawner therefore looks again until it finds none, and soon as long as it makes
// progress.
void Spawner::LookForOrphans() {
  SetReaping(Reaping::kByKernel);
  const auto progress = raw::VisitChildren(processes_, kProcessesPerTurn, [this](pid_t pid) {
    if (!keepers_.contains(pid)) KillOrphan(pid);
  });
  if (progress == raw::Look::kUnfinished) return orphan_timer_.Start(kTurnDelay);
  EndLook();
}

// The orphan is killed by pidfd, because the kernel may have reaped it already and given its pid to another process.
// For waitid, a process that a thread of the server traces is a child too.
void Spawner::KillOrphan(pid_t pid) {
  const auto pidfd = sys::OpenPidfd(pid);
  if (!pidfd || ParentOf(proc_.get(), pid) != ::getpid()) return;
  siginfo_t ended = {};
  const int options = WEXITED | WNOHANG | __WALL;
  if (::waitid(P_PIDFD, static_cast<id_t>(pidfd->get()), &ended, options) != 0) return;
  if (ended.si_pid != 0) {  // it ended before the kernel was told to reap
    ++look_.reaped;
    return;
  }
  ++look_.found;
  look_.sum_of_pids += static_cast<uint64_t>(pid);
  sys::SendSignal(pidfd->get(), SIGKILL);
}

void Spawner::EndLook() {
  const OrphanLook ended = std::exchange(look_, {});
  processes_.GoToBegin();
  looks_without_orphan_ = ended.found == 0 ? looks_without_orphan_ + 1 : 0;
  const bool progress = ended.reaped > 0 || ended.found != orphans_ || ended.sum_of_pids != sum_of_orphans_;
  orphans_ = ended.found;
  sum_of_orphans_ = ended.sum_of_pids;
  if (looks_without_orphan_ >= kLooksToBeSure) return StopLooking();
  if (ended.found == 0) return orphan_timer_.Start(kTurnDelay);
  orphan_delay_ = progress ? kFirstOrphanDelay : orphan_delay_ * 2;
  if (orphan_delay_ >= kLastOrphanDelay) return StopLooking();
  orphan_timer_.Start(orphan_delay_);
}

void Spawner::StopLooking() {
  orphan_delay_ = kFirstOrphanDelay;
  SetReaping(Reaping::kByUs);
  for (loop::Callback& callback : std::exchange(when_orphans_gone_, {})) callback();
}

// This function runs once a second as long as there is a keeper or an orphan.
void Spawner::LookAfter() {
  WakeStoppedKeepers();
  slots_->FreeUnused();
  if (orphans_ > 0 && !orphan_timer_.running()) LookForOrphans();
  if (!keepers_.empty() || orphans_ > 0) care_timer_.Start(kCareInterval);
}

// A command can stop its keeper, which could then not tell the server of the command's exit. Keepers are children of
// this thread. The other threads may trace processes, and wait for their stops themselves.
void Spawner::WakeStoppedKeepers() {
  siginfo_t stopped = {};
  while (::waitid(P_ALL, 0, &stopped, WSTOPPED | WNOHANG | __WNOTHREAD) == 0 && stopped.si_pid != 0) {
    (void)::kill(stopped.si_pid, SIGCONT);
    stopped = {};
  }
}

}  // namespace holdfast::process
