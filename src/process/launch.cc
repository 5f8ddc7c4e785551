#include "process/launch.h"

#include <fcntl.h>
#include <linux/futex.h>
#include <linux/sched.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <csignal>

#include "base/check.h"
#include "sys/descriptor_passing.h"
#include "sys/io.h"
#include "sys/raw.h"
#include "sys/signals.h"

namespace holdfast::process {

namespace raw = sys::raw;

static_assert(Wrapper::kFirstFd == kKeeperImageFd + 1);
static_assert(Wrapper::kFirstFd + Wrapper::kMaxFds == kKeeperStartFd);
static_assert(kKeeperStartFd <= sys::kLastReservedFd);

// InChild is the code that runs between clone and exec, in two processes that share the server's memory while the
// server runs on. It makes only raw system calls, on stacks of its own. It must not use libc, which would use the
// server's errno, and must not be instrumented by a sanitizer.
#define HOLDFAST_IN_CHILD [[clang::disable_sanitizer_instrumentation, gnu::noinline]]

struct InChild {
  static constexpr int kPathMax = 4096;

  // Joins "dir/name"; an empty directory means the current one. Returns false if the path is too long.
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

  // Looks the name up as execvp does: a directory that lacks the program or denies access to it does not end the
  // search, but if no program is found, a denial is the error that is returned.
  HOLDFAST_IN_CHILD static int SearchAndExecute(const Launch& launch) {
    char path[kPathMax];
    int failure = ENOENT;
    for (const char* at = launch.search_path_;; ++at) {
      const char* end = at;
      while (*end != '\0' && *end != ':') ++end;
      int error = JoinPath(path, at, end - at, launch.program_) ? Execute(launch, path) : ENAMETOOLONG;
      if (error == EACCES) {
        failure = EACCES;
      } else if (error != ENOENT && error != ENOTDIR && error != ENAMETOOLONG) {
        return error;
      }
      if (*end == '\0') return failure;
      at = end;
    }
  }

  // Ends the keeper or the command's process after a failure, which it writes into the start pipe.
  [[noreturn]] HOLDFAST_IN_CHILD static void FailStart(StartStep step, long error, int exit_code) {
    KeeperEvent event{KeeperEventKind::kStartFailed, static_cast<int>(error), step};
    raw::Syscall(__NR_write, kKeeperStartFd, raw::Address(&event), sizeof event);
    raw::Exit(exit_code);
  }

  HOLDFAST_IN_CHILD static void DefaultAction(int signal) {
    struct {
      long handler, flags, restorer, mask;
    } action;
    action.handler = action.flags = action.restorer = action.mask = 0;
    raw::Syscall(__NR_rt_sigaction, signal, raw::Address(&action), 0, sizeof(long));
  }

  // The command can stop its keeper from its first instruction on. By then the keeper must have closed its copies of
  // everything that tells the server of the start.
  HOLDFAST_IN_CHILD static void AwaitKeeper(Launch& launch) {
    while (__atomic_load_n(&launch.keeper_is_ready_, __ATOMIC_ACQUIRE) == 0) {
      raw::Syscall(__NR_futex, raw::Address(&launch.keeper_is_ready_), FUTEX_WAIT_PRIVATE, 0, 0);
    }
  }

  HOLDFAST_IN_CHILD static void LetCommandGo(Launch& launch) {
    __atomic_store_n(&launch.keeper_is_ready_, 1, __ATOMIC_RELEASE);
    raw::Syscall(__NR_futex, raw::Address(&launch.keeper_is_ready_), FUTEX_WAKE_PRIVATE, 1);
  }

  HOLDFAST_IN_CHILD static void RunCommand(void* argument) {
    auto& launch = *static_cast<Launch*>(argument);
    raw::Prctl(PR_SET_PDEATHSIG, SIGKILL);
    // The keeper was killed before PR_SET_PDEATHSIG was set.
    if (raw::Syscall(__NR_getppid) != launch.keeper_pid_) raw::Exit(127);
    raw::Syscall(launch.reports_stops_ ? __NR_setpgid : __NR_setsid, 0, 0);
    if (launch.terminal_) {
      if (long error = -raw::Syscall(__NR_ioctl, 0, TIOCSCTTY, 0); error != 0) {
        FailStart(StartStep::kTerminal, error, 127);
      }
    }
    if (long error = -raw::Syscall(__NR_chdir, raw::Address(launch.cwd_)); error != 0) {
      FailStart(StartStep::kDirectory, error, 127);
    }
    raw::Syscall(__NR_close_range, kKeeperControlFd, kKeeperImageFd, 0);  // closed here, because an exec can hang
    for (int i = 0; i < launch.wrapper_fd_count_; ++i) raw::Syscall(__NR_fcntl, Wrapper::kFirstFd + i, F_SETFD, 0);
    raw::Syscall(__NR_prlimit64, 0, RLIMIT_NOFILE, raw::Address(&launch.file_limit_), 0);
    constexpr int kLastSignal = 64;
    for (int signal = 1; signal <= kLastSignal; ++signal) DefaultAction(signal);
    long no_signals = 0;
    raw::Syscall(__NR_rt_sigprocmask, SIG_SETMASK, raw::Address(&no_signals), 0, sizeof no_signals);
    AwaitKeeper(launch);
    int error = launch.search_path_ != nullptr ? SearchAndExecute(launch) : Execute(launch, launch.program_);
    FailStart(StartStep::kExec, error, 127);
  }

  // The kernel stores the command's pid before its process runs, and clears command_on_memory_ when that process leaves
  // the server's memory.
  HOLDFAST_IN_CHILD static long StartCommand(Launch& launch) {
    clone_args args;
    for (unsigned long i = 0; i < sizeof args; ++i) reinterpret_cast<volatile char*>(&args)[i] = 0;
    args.flags = CLONE_VM | CLONE_PARENT_SETTID | CLONE_CHILD_CLEARTID;
    args.exit_signal = SIGCHLD;
    args.stack = reinterpret_cast<unsigned long>(launch.command_stack_);
    args.stack_size = sizeof launch.command_stack_;
    args.parent_tid = reinterpret_cast<unsigned long>(&launch.command_pid_);
    args.child_tid = reinterpret_cast<unsigned long>(&launch.command_on_memory_);
    __atomic_store_n(&launch.command_on_memory_, 1, __ATOMIC_RELEASE);
    const long pid = raw::Clone3(&args, RunCommand, &launch);
    if (pid < 0) __atomic_store_n(&launch.command_on_memory_, 0, __ATOMIC_RELEASE);
    return pid;
  }

  HOLDFAST_IN_CHILD static const char* Decimal(long number, char* end) {
    *--end = '\0';
    do {
      *--end = static_cast<char>('0' + number % 10);
      number /= 10;
    } while (number != 0);
    return end;
  }

  // Leaves the server's descriptor table with copies of the low numbers only. No other descriptor of the server is ever
  // copied or closed here, because closing can hang. Before this call the keeper must not change any descriptor.
  HOLDFAST_IN_CHILD static void LeaveTable(Launch& launch) {
    if (!launch.slot_.held()) return;  // the keeper has a copy of the whole table
    if (raw::Syscall(__NR_close_range, StartSlots::kEnd, -1, CLOSE_RANGE_UNSHARE) != 0) raw::Exit(127);
    __atomic_store_n(&launch.slot_.keeper_has_left, 1, __ATOMIC_RELEASE);
  }

  // Puts the descriptors in their places: 0 to 2 for the command, 3 and 4 for the keeper, then those of a wrapper, and
  // last the start pipe. They arrive through the control socket and get higher numbers at first, because ReserveLowFds
  // has occupied these. All others are closed at once and not at exec: an exec can hang, and the copies would hide the
  // server's death from other keepers and a disconnect from clients.
  HOLDFAST_IN_CHILD static void ArrangeFds(Launch& launch) {
    LeaveTable(launch);
    if (raw::Syscall(__NR_recvmsg, launch.control_, raw::Address(&launch.message_), MSG_CMSG_CLOEXEC) != 1) {
      raw::Exit(127);
    }
    const auto* const header = reinterpret_cast<const cmsghdr*>(launch.message_space_);
    if (header->cmsg_len != CMSG_LEN(static_cast<unsigned long>(launch.passed_count_) * sizeof(int))) raw::Exit(127);
    const auto* const passed = reinterpret_cast<const int*>(launch.message_space_ + CMSG_LEN(0));
    raw::Syscall(__NR_dup3, launch.control_, kKeeperControlFd, O_CLOEXEC);
    for (int i = 0; i < launch.passed_count_; ++i) {
      const int target = launch.targets_[i];
      raw::Syscall(__NR_dup3, passed[i], target, target > 2 ? O_CLOEXEC : 0);
    }
    raw::Syscall(__NR_close_range, kKeeperStartFd + 1, -1, 0);
    raw::Syscall(__NR_close_range, Wrapper::kFirstFd + launch.wrapper_fd_count_, kKeeperStartFd - 1, 0);
  }

  // The keeper needs only the control socket and its program. Its copies of the other descriptors would keep the
  // command's pipes and terminal open.
  HOLDFAST_IN_CHILD static void CloseFdsOfCommand() {
    raw::Syscall(__NR_close_range, 0, 2, 0);
    raw::Syscall(__NR_close_range, kKeeperImageFd + 1, -1, 0);
  }

  HOLDFAST_IN_CHILD static void RunKeeper(void* argument) {
    auto& launch = *static_cast<Launch*>(argument);
    // A signal to the server's process group must not kill the keepers, because they clean up after the server.
    raw::Syscall(launch.reports_stops_ ? __NR_setsid : __NR_setpgid, 0, 0);
    raw::Prctl(PR_SET_CHILD_SUBREAPER, 1);
    // A command may stop the keeper, its parent, as soon as it runs. The server's death wakes the keeper, so that it
    // can clean up.
    raw::Prctl(PR_SET_PDEATHSIG, SIGCONT);
    DefaultAction(SIGCHLD);  // if SIGCHLD were ignored, the kernel would reap the command and drop its exit status
    ArrangeFds(launch);
    launch.keeper_pid_ = static_cast<int>(raw::Syscall(__NR_getpid));
    long leader = StartCommand(launch);
    if (leader < 0) FailStart(StartStep::kExec, -leader, 0);
    CloseFdsOfCommand();
    raw::Syscall(__NR_fcntl, kKeeperControlFd, F_SETFD, 0);
    LetCommandGo(launch);
    char leader_digits[24], grace_digits[24];
    const char* argv[kKeeperArgCount + 1];
    argv[0] = "holdfast-keeper";
    argv[1] = Decimal(leader, leader_digits + sizeof leader_digits);
    argv[2] = Decimal(launch.grace_ms_, grace_digits + sizeof grace_digits);
    argv[3] = launch.kernel_keeps_status_ ? "1" : "0";
    argv[4] = launch.reports_stops_ ? "1" : "0";
    argv[kKeeperArgCount] = nullptr;
    raw::Syscall(__NR_execveat, kKeeperImageFd, raw::Address(""), raw::Address(argv),
                 raw::Address(argv + kKeeperArgCount), AT_EMPTY_PATH);
    raw::Kill(static_cast<int>(-leader), SIGKILL);  // without a keeper no command may run
    raw::Kill(static_cast<int>(leader), SIGKILL);
    raw::Exit(127);
  }
};

Launch::Launch(const Command& command, const Io& io, const LaunchSettings& settings)
    : command_(command),
      terminal_(std::holds_alternative<Terminal>(io)),
      reports_stops_(command_.stops == Stops::kReported),
      file_limit_(command_.wrapper && command_.wrapper->lowers_file_limit ? settings.helper_file_limit
                                                                          : settings.file_limit),
      kernel_keeps_status_(settings.kernel_keeps_status),
      program_(command_.program.c_str()),
      search_path_(command_.search_path ? command_.search_path->c_str() : nullptr),
      cwd_(command_.cwd.c_str()),
      grace_ms_(command_.wrapper ? command_.wrapper->grace.count() : 0) {
  variables_.reserve(command_.env.size());
  for (const auto& [name, value] : command_.env) variables_.push_back(std::string(name).append("=").append(value));
  argv_ = sys::Argv(command_.argv);
  envp_ = sys::Argv(variables_);
  argv_data_ = argv_.data();
  envp_data_ = envp_.data();
}

// Sends everything that the keeper receives. It is in the socket before the keeper exists, so that the keeper need not
// wait for it.
Result<> Launch::Pass(const LaunchFds& fds) {
  std::vector<int> passed = {fds.stdio.in, fds.stdio.out, fds.stdio.err, fds.image, fds.start};
  std::ranges::copy(std::initializer_list<int>{0, 1, 2, kKeeperImageFd, kKeeperStartFd}, targets_);
  CHECK(!terminal_ || !reports_stops_);
  if (command_.wrapper) {
    CHECK(command_.wrapper->fds.size() <= Wrapper::kMaxFds);
    for (const auto& fd : command_.wrapper->fds) {
      targets_[passed.size()] = Wrapper::kFirstFd + wrapper_fd_count_++;
      passed.push_back(fd->get());
    }
  }
  passed_count_ = static_cast<int>(passed.size());
  message_piece_ = {.iov_base = &message_byte_, .iov_len = 1};
  message_.msg_iov = &message_piece_;
  message_.msg_iovlen = 1;
  message_.msg_control = message_space_;
  message_.msg_controllen = sizeof message_space_;
  TRY_VOID(sys::SendDescriptors(fds.control, passed));
  // The memory of a start is kept until the keeper has left it, and that may be noticed late. A descriptor in it would
  // hide from the server that the wrapper has closed its own.
  if (command_.wrapper) command_.wrapper->fds.clear();
  return {};
}

Result<sys::Child> Launch::Start(StartSlots& slots, const LaunchFds& fds) {
  TRY_VOID(Pass(fds));
  const bool has_slot = slots.Occupy(slot_, fds.keeper_control);
  control_ = has_slot ? slot_.number() : fds.keeper_control;
  int pidfd = -1;
  clone_args args = {};
  args.flags = CLONE_VM | CLONE_PIDFD | CLONE_CHILD_CLEARTID | (has_slot ? CLONE_FILES : 0);
  args.pidfd = reinterpret_cast<uintptr_t>(&pidfd);
  args.child_tid = reinterpret_cast<uintptr_t>(&keeper_on_memory_);
  args.exit_signal = SIGCHLD;
  args.stack = reinterpret_cast<uintptr_t>(keeper_stack_);
  args.stack_size = sizeof keeper_stack_;
  keeper_on_memory_ = 1;
  long pid;
  {
    // Both children start with all signals blocked, because no signal handler of the server may run in a child. The
    // command's process unblocks them before it executes the command, and the keeper leaves them blocked.
    const sys::SignalsBlocked blocked;
    pid = raw::Clone3(&args, InChild::RunKeeper, this);
  }
  if (pid < 0) {
    keeper_on_memory_ = 0;
    return FailErrno("clone3", "", static_cast<int>(-pid));
  }
  slot_.keeper = static_cast<pid_t>(pid);
  return sys::Child{static_cast<pid_t>(pid), OwnedFd(pidfd)};
}

bool Launch::IsInUse() const {
  return __atomic_load_n(&keeper_on_memory_, __ATOMIC_ACQUIRE) != 0 ||
         __atomic_load_n(&command_on_memory_, __ATOMIC_ACQUIRE) != 0;
}

}  // namespace holdfast::process
