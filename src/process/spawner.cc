#include "process/spawner.h"

#include <fcntl.h>
#include <linux/close_range.h>
#include <linux/sched.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>

#include "process/keeper_image.h"
#include "process/keeper_protocol.h"
#include "sys/executable_image.h"
#include "sys/io.h"
#include "sys/raw.h"
#include "sys/raw_children.h"

namespace holdfast::process {
namespace {

namespace raw = sys::raw;
using namespace std::chrono_literals;

constexpr char kKeeperProcessName[] = "holdfast-keeper";  // 15 characters, the most the kernel shows
constexpr size_t kChildStackBytes = 16 * 1024;

// Pointers for execve into strings that the command owns.
class StringArray {
 public:
  void Add(const std::string& text) { pointers_.push_back(text.c_str()); }
  void Add(const char* text) { pointers_.push_back(text); }
  const char* const* data() {
    pointers_.push_back(nullptr);
    return pointers_.data();
  }

 private:
  std::vector<const char*> pointers_;
};

struct ChildSetup {
  int image;
  int fds[4];  // become 0, 1, 2 and the control descriptor
  const char* const* argv;
  const char* const* envp;
  int error;
};

// Runs between clone and exec on the server's memory: raw system calls only. ReserveLowFds keeps every source above the
// targets, so no dup2 overwrites one that is still needed.
[[clang::disable_sanitizer_instrumentation, gnu::noinline]] void ExecuteKeeperInChild(void* argument) {
  auto* setup = static_cast<ChildSetup*>(argument);
  for (int target = 0; target <= kKeeperControlFd; ++target) {
    raw::Syscall(__NR_dup3, setup->fds[target], target, 0);
  }
  raw::Syscall(__NR_close_range, kKeeperControlFd + 1, -1, CLOSE_RANGE_CLOEXEC);
  setup->error = static_cast<int>(-raw::Syscall(__NR_execveat, setup->image, raw::Address(""),
                                                raw::Address(setup->argv), raw::Address(setup->envp), AT_EMPTY_PATH));
  raw::Exit(127);
}

// Signals stay blocked in the child until the keeper decides: a handler of ours must not run on shared memory.
class SignalsBlocked {
 public:
  SignalsBlocked() {
    sigset_t all;
    sigfillset(&all);
    ::pthread_sigmask(SIG_SETMASK, &all, &before_);
  }
  ~SignalsBlocked() { ::pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  SignalsBlocked(const SignalsBlocked&) = delete;
  SignalsBlocked& operator=(const SignalsBlocked&) = delete;

 private:
  sigset_t before_;
};

Result<sys::Child> CloneKeeper(ChildSetup& setup) {
  alignas(16) static std::array<char, kChildStackBytes> stack;
  int pidfd = -1;
  clone_args args = {};
  args.flags = CLONE_VM | CLONE_VFORK | CLONE_PIDFD;
  args.pidfd = reinterpret_cast<uintptr_t>(&pidfd);
  args.exit_signal = SIGCHLD;
  args.stack = reinterpret_cast<uintptr_t>(stack.data());
  args.stack_size = stack.size();
  long pid;
  {
    SignalsBlocked blocked;
    pid = raw::Clone3(&args, ExecuteKeeperInChild, &setup);
  }
  if (pid < 0) return std::unexpected(ErrnoError("clone3", "", static_cast<int>(-pid)));
  sys::Child child{static_cast<pid_t>(pid), OwnedFd(pidfd)};
  if (setup.error == 0) return child;
  (void)::waitpid(child.pid, nullptr, 0);  // it has called _exit: nothing to learn
  return std::unexpected(ErrnoError("exec", "keeper", setup.error));
}

std::vector<std::string> EnvironmentStrings(const Environment& env) {
  std::vector<std::string> strings;
  strings.reserve(env.size());
  for (const auto& [name, value] : env) strings.push_back(name + "=" + value);
  return strings;
}

}  // namespace

Result<std::unique_ptr<Spawner>> Spawner::Create(loop::EventLoop& loop) {
  if (::prctl(PR_SET_CHILD_SUBREAPER, 1) < 0) return std::unexpected(ErrnoError("prctl", "subreaper", errno));
  if (long error = raw::ForEachChild(::getpid(), [](int) {}); error < 0) {
    return std::unexpected(ErrnoError("read", "/proc", static_cast<int>(-error)));
  }
  TRY(OwnedFd image, sys::MakeExecutableImage(kKeeperProcessName, KeeperImage()));
  return std::unique_ptr<Spawner>(new Spawner(loop, std::move(image)));
}

Spawner::Spawner(loop::EventLoop& loop, OwnedFd image)
    : image_(std::move(image)), orphan_timer_(loop, [this] { AdoptOrphans(); }) {}

Result<StartedKeeper> Spawner::Start(const Command& command, const Io& io, StdioFds stdio) {
  TRY(sys::SocketPair control, sys::MakePacketPair());
  StringArray argv, envp;
  argv.Add(kKeeperProcessName);
  argv.Add(std::holds_alternative<Terminal>(io) ? "t" : "p");
  argv.Add(command.cwd);
  argv.Add(command.program);
  argv.Add(command.search_path ? command.search_path->c_str() : "");
  for (const std::string& word : command.argv) argv.Add(word);
  std::vector<std::string> env = EnvironmentStrings(command.env);
  for (const std::string& variable : env) envp.Add(variable);
  ChildSetup setup = {image_.get(), {stdio.in, stdio.out, stdio.err, control.theirs.get()}, argv.data(), envp.data(), 0};
  TRY(sys::Child child, CloneKeeper(setup));
  keepers_.insert(child.pid);
  return StartedKeeper{std::move(child), std::move(control.ours)};
}

void Spawner::Forget(pid_t keeper, sys::Ending ending) {
  keepers_.erase(keeper);
  if (ending == sys::Ending::kExitedCleanly) return;
  orphan_delay_ = kFirstOrphanDelay;
  AdoptOrphans();
}

// Whatever is our child and no keeper belonged to a keeper that was killed. Its own children come to us as it dies, so we
// look again until a look finds nothing.
void Spawner::AdoptOrphans() {
  ReapOrphans();
  raw::ForEachChild(::getpid(), [this](int pid) {
    if (keepers_.contains(pid)) return;
    orphans_.insert(pid);
    (void)::kill(pid, SIGKILL);  // an unreaped child: the number is still its own
  });
  ReapOrphans();
  if (orphans_.empty()) return;
  orphan_timer_.Start(orphan_delay_);
  orphan_delay_ = std::min(orphan_delay_ * 2, 1000ms);  // a set-uid program may not be ours to kill
}

void Spawner::ReapOrphans() {
  std::erase_if(orphans_, [](pid_t pid) { return ::waitpid(pid, nullptr, WNOHANG | __WALL) != 0; });
}

}  // namespace holdfast::process
