#include "process/launch.h"

#include <fcntl.h>
#include <linux/sched.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <csignal>

#include "sys/io.h"
#include "sys/raw.h"

namespace holdfast::process {

namespace raw = sys::raw;

static_assert(Wrapper::kFirstFd == kKeeperImageFd + 1);
static_assert(Wrapper::kFirstFd + Wrapper::kMaxFds - 1 <= sys::kLastReservedFd);

// What runs between clone and exec, in two new processes that share the server's memory while the server goes on: raw
// system calls on stacks of their own, nothing else. No libc, which would use the server's errno; no sanitizer.
#define HOLDFAST_IN_CHILD [[clang::disable_sanitizer_instrumentation, gnu::noinline]]

struct InChild {
  static constexpr int kPathMax = 4096;

  // Joins "dir/name"; an empty directory means the current one. False when it does not fit.
  HOLDFAST_IN_CHILD static bool JoinPath(char* out, const char* directory, long directory_size, const char* name) {
    if (directory_size > kPathMax - 2) return false;
    long at = 0;
    for (; at < directory_size; ++at) out[at] = directory[at];
    if (directory_size > 0) out[at++] = '/';
    for (; *name != '\0'; ++name) {
      if (at >= kPathMax - 1) return false;
      out[at++] = *name;
    }
    out[at] = '\0';
    return true;
  }

  HOLDFAST_IN_CHILD static int Execute(const Launch& launch, const char* program) {
    return static_cast<int>(-raw::Syscall(__NR_execve, raw::Address(program), raw::Address(launch.argv_data_),
                                          raw::Address(launch.envp_data_)));
  }

  // Looks the name up as execvp does: a directory that denies or lacks it does not end the search, but a denial is what
  // is reported when nothing else is found.
  HOLDFAST_IN_CHILD static int SearchAndExecute(const Launch& launch) {
    char path[kPathMax];
    int verdict = ENOENT;
    for (const char* at = launch.search_path_;; ++at) {
      const char* end = at;
      while (*end != '\0' && *end != ':') ++end;
      int error = JoinPath(path, at, end - at, launch.program_) ? Execute(launch, path) : ENAMETOOLONG;
      if (error == EACCES) {
        verdict = EACCES;
      } else if (error != ENOENT && error != ENOTDIR && error != ENAMETOOLONG) {
        return error;
      }
      if (*end == '\0') return verdict;
      at = end;
    }
  }

  [[noreturn]] HOLDFAST_IN_CHILD static void FailStart(Launch& launch, StartStep step, long error) {
    launch.start_errno_ = static_cast<int>(error);
    launch.start_step_ = step;
    raw::Exit(127);
  }

  HOLDFAST_IN_CHILD static void DefaultAction(int signal) {
    struct {
      long handler, flags, restorer, mask;
    } action;
    action.handler = action.flags = action.restorer = action.mask = 0;
    raw::Syscall(__NR_rt_sigaction, signal, raw::Address(&action), 0, sizeof(long));
  }

  HOLDFAST_IN_CHILD static void RunCommand(void* argument) {
    auto& launch = *static_cast<Launch*>(argument);
    raw::Prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (raw::Syscall(__NR_getppid) != launch.keeper_pid_) raw::Exit(127);  // killed before we could say so
    raw::Syscall(__NR_setsid);
    if (launch.terminal_) {
      if (long error = -raw::Syscall(__NR_ioctl, 0, TIOCSCTTY, 0); error != 0) {
        FailStart(launch, StartStep::kTerminal, error);
      }
    }
    if (long error = -raw::Syscall(__NR_chdir, raw::Address(launch.cwd_)); error != 0) {
      FailStart(launch, StartStep::kDirectory, error);
    }
    for (int fd = Wrapper::kFirstFd; fd < launch.fd_count_; ++fd) raw::Syscall(__NR_fcntl, fd, F_SETFD, 0);
    raw::Syscall(__NR_prlimit64, 0, RLIMIT_NOFILE, raw::Address(&launch.file_limit_), 0);
    constexpr int kLastSignal = 64;
    for (int signal = 1; signal <= kLastSignal; ++signal) DefaultAction(signal);
    long no_signals = 0;
    raw::Syscall(__NR_rt_sigprocmask, SIG_SETMASK, raw::Address(&no_signals), 0, sizeof no_signals);
    int error = launch.search_path_ != nullptr ? SearchAndExecute(launch) : Execute(launch, launch.program_);
    FailStart(launch, StartStep::kExec, error);
  }

  // Starts the command and waits until it has been executed or has failed.
  HOLDFAST_IN_CHILD static long StartCommand(Launch& launch) {
    clone_args args;
    for (unsigned long i = 0; i < sizeof args; ++i) reinterpret_cast<volatile char*>(&args)[i] = 0;
    args.flags = CLONE_VM | CLONE_VFORK;
    args.exit_signal = SIGCHLD;
    args.stack = reinterpret_cast<unsigned long>(launch.command_stack_);
    args.stack_size = sizeof launch.command_stack_;
    return raw::Clone3(&args, RunCommand, &launch);
  }

  [[noreturn]] HOLDFAST_IN_CHILD static void ReportFailure(StartStep step, int error) {
    KeeperReport report{KeeperReportKind::kStartFailed, error, step};
    raw::Syscall(__NR_sendto, kKeeperControlFd, raw::Address(&report), sizeof report, MSG_NOSIGNAL);
    raw::Syscall(__NR_wait4, -1, 0, __WALL);  // a zombie of ours would become the server's, who expects none
    raw::Exit(0);
  }

  HOLDFAST_IN_CHILD static const char* Decimal(long number, char* end) {
    *--end = '\0';
    do {
      *--end = static_cast<char>('0' + number % 10);
      number /= 10;
    } while (number != 0);
    return end;
  }

  // Descriptors 0 to 2 for the command, 3 and 4 for the keeper, then those of a wrapper. ReserveLowFds keeps every
  // source above them, so no dup overwrites one that is still needed. All others are closed at once and not at exec: an
  // exec can hang, and the copies would hide the server's death from other keepers and a disconnect from clients.
  HOLDFAST_IN_CHILD static void ArrangeFds(const Launch& launch) {
    for (int target = 0; target < launch.fd_count_; ++target) {
      raw::Syscall(__NR_dup3, launch.fds_[target], target, target > 2 ? O_CLOEXEC : 0);
    }
    raw::Syscall(__NR_close_range, launch.fd_count_, -1, 0);
  }

  HOLDFAST_IN_CHILD static void RunKeeper(void* argument) {
    auto& launch = *static_cast<Launch*>(argument);
    // A signal to the server's group must not take the keepers with it: they are the ones who clean up. With a session
    // of its own a keeper also has its own share of the processor, where the kernel divides it by session.
    raw::Syscall(__NR_setsid);
    raw::Prctl(PR_SET_CHILD_SUBREAPER, 1);
    // A command may stop its parent, as soon as it runs; the server's death wakes it again, so that it can clean up.
    raw::Prctl(PR_SET_PDEATHSIG, SIGCONT);
    DefaultAction(SIGCHLD);  // ignored, it would reap the command behind our back
    ArrangeFds(launch);
    launch.keeper_pid_ = static_cast<int>(raw::Syscall(__NR_getpid));
    long leader = StartCommand(launch);
    if (leader < 0) ReportFailure(StartStep::kExec, static_cast<int>(-leader));
    if (launch.start_step_ != StartStep::kNone) ReportFailure(launch.start_step_, launch.start_errno_);
    raw::Syscall(__NR_fcntl, kKeeperControlFd, F_SETFD, 0);
    char leader_digits[24], grace_digits[24];
    const char* argv[kKeeperArgCount + 1];
    argv[0] = "holdfast-keeper";
    argv[1] = Decimal(leader, leader_digits + sizeof leader_digits);
    argv[2] = Decimal(launch.grace_ms_, grace_digits + sizeof grace_digits);
    argv[3] = launch.kernel_keeps_status_ ? "1" : "0";
    argv[4] = nullptr;
    raw::Syscall(__NR_execveat, kKeeperImageFd, raw::Address(""), raw::Address(argv), raw::Address(argv + 4),
                 AT_EMPTY_PATH);
    raw::Kill(static_cast<int>(-leader), SIGKILL);  // without a keeper nothing may run
    raw::Exit(127);
  }
};

namespace {

// Signals stay blocked in both children until each decides: a handler of the server's must not run there.
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

}  // namespace

Launch::Launch(const Command& command, const Io& io, const LaunchSettings& settings)
    : command_(command),
      terminal_(std::holds_alternative<Terminal>(io)),
      file_limit_(settings.file_limit),
      kernel_keeps_status_(settings.kernel_keeps_status),
      program_(command_.program.c_str()),
      search_path_(command_.search_path ? command_.search_path->c_str() : nullptr),
      cwd_(command_.cwd.c_str()),
      grace_ms_(command_.wrapper ? command_.wrapper->grace.count() : 0) {
  for (const std::string& word : command_.argv) argv_.push_back(word.c_str());
  argv_.push_back(nullptr);
  variables_.reserve(command_.env.size());
  for (const auto& [name, value] : command_.env) variables_.push_back(std::string(name).append("=").append(value));
  for (const std::string& variable : variables_) envp_.push_back(variable.c_str());
  envp_.push_back(nullptr);
  argv_data_ = argv_.data();
  envp_data_ = envp_.data();
}

Result<sys::Child> Launch::Start(int image, StdioFds stdio, int control) {
  const int sources[] = {stdio.in, stdio.out, stdio.err, control, image};
  std::ranges::copy(sources, fds_);
  if (command_.wrapper) {
    for (const auto& fd : command_.wrapper->fds) fds_[fd_count_++] = fd->get();
  }
  int pidfd = -1;
  clone_args args = {};
  args.flags = CLONE_VM | CLONE_PIDFD;
  args.pidfd = reinterpret_cast<uintptr_t>(&pidfd);
  args.exit_signal = SIGCHLD;
  args.stack = reinterpret_cast<uintptr_t>(keeper_stack_);
  args.stack_size = sizeof keeper_stack_;
  long pid;
  {
    SignalsBlocked blocked;
    pid = raw::Clone3(&args, InChild::RunKeeper, this);
  }
  if (pid < 0) return std::unexpected(ErrnoError("clone3", "", static_cast<int>(-pid)));
  return sys::Child{static_cast<pid_t>(pid), OwnedFd(pidfd)};
}

}  // namespace holdfast::process
