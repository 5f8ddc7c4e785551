// The keeper: parent and subreaper of one command. See process/keeper_protocol.h for its life and its words. It has no
// libc and no heap, so that starting one costs a few dozen microseconds and holding one a few pages.

#include <linux/prctl.h>
#include <linux/wait.h>

#include "process/keeper_protocol.h"
#include "sys/raw.h"
#include "sys/raw_children.h"

namespace holdfast::process {
namespace {

namespace raw = sys::raw;

constexpr int kSigKill = 9;
constexpr int kSigChild = 17;
constexpr int kSigContinue = 18;
constexpr int kLastSignal = 64;
constexpr long kAllSignals = -1;
constexpr long kNoSignals = 0;
constexpr int kPathMax = 4096;
constexpr int kNoEntry = 2, kInterrupted = 4, kAccess = 13, kNotDirectory = 20, kNameTooLong = 36;
constexpr int kNoChild = 10;

struct PollFd {
  int fd;
  short events;
  short revents;
};

// The part of siginfo_t that waitid fills, for x86-64.
struct ChildStatus {
  int signal, error, code, padding;
  int pid, uid, status;
  char rest[100];
};

struct Command {
  const char* const* argv;
  const char* const* envp;
  const char* directory;
  const char* program;
  const char* search_path;
  bool terminal;
  // Written by the command's process while it still shares our memory.
  int start_errno;
  StartStep start_step;
};

struct Keeper {
  int self;
  int child_events;  // signalfd for SIGCHLD
  int leader;        // 0 once reaped
  bool killing;
};

alignas(16) char command_stack[16 * 1024];

void SetSignalMask(long mask) {
  raw::Syscall(__NR_rt_sigprocmask, 2 /* SIG_SETMASK */, raw::Address(&mask), 0, sizeof mask);
}

void ResetSignalActions() {
  struct {
    long handler, flags, restorer, mask;
  } action = {0, 0, 0, 0};
  for (int signal = 1; signal <= kLastSignal; ++signal) {
    raw::Syscall(__NR_rt_sigaction, signal, raw::Address(&action), 0, sizeof(long));
  }
}

void Send(KeeperReport report) {
  // A server that is gone is noticed by the next poll.
  raw::Syscall(__NR_sendto, kKeeperControlFd, raw::Address(&report), sizeof report, 0x4000 /* MSG_NOSIGNAL */);
}

// Joins "dir/name"; an empty directory means the current one. False when it does not fit.
bool JoinPath(char* out, const char* directory, int directory_size, const char* name) {
  int at = 0;
  if (directory_size > kPathMax - 2) return false;
  for (int i = 0; i < directory_size; ++i) out[at++] = directory[i];
  if (directory_size > 0) out[at++] = '/';
  for (; *name != '\0'; ++name) {
    if (at >= kPathMax - 1) return false;
    out[at++] = *name;
  }
  out[at] = '\0';
  return true;
}

int ExecuteInChild(const Command& command, const char* path) {
  return static_cast<int>(-raw::Syscall(__NR_execve, raw::Address(path), raw::Address(command.argv),
                                        raw::Address(command.envp)));
}

// Looks the name up as execvp does: a directory that denies or lacks it does not end the search, but a denial is what is
// reported when nothing else is found.
int SearchAndExecuteInChild(const Command& command) {
  char path[kPathMax];
  int verdict = kNoEntry;
  for (const char* at = command.search_path;; ++at) {
    const char* end = at;
    while (*end != '\0' && *end != ':') ++end;
    int error = JoinPath(path, at, static_cast<int>(end - at), command.program) ? ExecuteInChild(command, path)
                                                                               : kNameTooLong;
    if (error == kAccess) {
      verdict = kAccess;
    } else if (error != kNoEntry && error != kNotDirectory && error != kNameTooLong) {
      return error;
    }
    if (*end == '\0') return verdict;
    at = end;
  }
}

[[noreturn]] void FailInChild(Command& command, StartStep step, int error) {
  command.start_errno = error;
  command.start_step = step;
  raw::Exit(127);
}

void RunCommandInChild(void* argument) {
  auto& command = *static_cast<Command*>(argument);
  raw::Prctl(PR_SET_PDEATHSIG, kSigKill);
  raw::Syscall(__NR_setsid);
  if (command.terminal) {
    long error = -raw::Syscall(__NR_ioctl, 0, 0x540E /* TIOCSCTTY */, 0);
    if (error != 0) FailInChild(command, StartStep::kTerminal, static_cast<int>(error));
  }
  if (long error = -raw::Syscall(__NR_chdir, raw::Address(command.directory)); error != 0) {
    FailInChild(command, StartStep::kDirectory, static_cast<int>(error));
  }
  SetSignalMask(kNoSignals);
  int error = command.search_path[0] != '\0' ? SearchAndExecuteInChild(command)
                                             : ExecuteInChild(command, command.program);
  FailInChild(command, StartStep::kExec, error);
}

// Starts the command and waits until it has been executed or has failed.
int Start(Command& command) {
  clone_args args = {};
  args.flags = CLONE_VM | CLONE_VFORK;
  args.exit_signal = kSigChild;
  args.stack = reinterpret_cast<unsigned long>(command_stack);
  args.stack_size = sizeof command_stack;
  long pid = raw::Clone3(&args, RunCommandInChild, &command);
  if (pid < 0) {
    command.start_errno = static_cast<int>(-pid);
    command.start_step = StartStep::kExec;
    return 0;
  }
  return static_cast<int>(pid);
}

// Reaps what has ended. False when no child is left at all.
bool Reap(Keeper& keeper) {
  for (;;) {
    ChildStatus status = {};
    long error = raw::Syscall(__NR_waitid, P_ALL, 0, raw::Address(&status), WEXITED | WNOHANG | __WALL, 0);
    if (error == -kInterrupted) continue;
    if (error == -kNoChild) return false;
    if (error != 0 || status.pid == 0) return true;
    if (status.pid != keeper.leader) continue;
    keeper.leader = 0;
    bool exited = status.code == 1;  // CLD_EXITED
    Send({KeeperReportKind::kExited, exited ? status.status : 128 + status.status, StartStep::kNone});
  }
}

// Kills the command's group and every direct child with its own group. What they leave behind becomes our child as they
// die, and SIGCHLD brings us here again, until none is left. The leader goes first: most commands leave nothing, and then
// /proc is never read.
void KillAll(const Keeper& keeper) {
  if (keeper.leader != 0) {
    raw::Kill(-keeper.leader, kSigKill);
    raw::Kill(keeper.leader, kSigKill);
    return;
  }
  raw::ForEachChild(keeper.self, [](int pid) {
    raw::Kill(-pid, kSigKill);
    raw::Kill(pid, kSigKill);
  });
}

void Obey(Keeper& keeper) {
  KeeperOrder order;
  long size = raw::Read(kKeeperControlFd, &order, sizeof order);
  if (size == -kInterrupted) return;
  if (size == sizeof order && order.kind == KeeperOrderKind::kSignal) {
    if (keeper.leader != 0) raw::Kill(-keeper.leader, order.value);
    return;
  }
  keeper.killing = true;  // kKill, or the server is gone
}

[[noreturn]] void Keep(Keeper& keeper) {
  bool listening = true;
  while (Reap(keeper)) {
    if (keeper.killing) KillAll(keeper);
    PollFd fds[2] = {{keeper.child_events, 1 /* POLLIN */, 0}, {listening ? kKeeperControlFd : -1, 1, 0}};
    raw::Syscall(__NR_poll, raw::Address(fds), 2, -1);
    if (fds[0].revents != 0) {
      char events[128 * 4];
      raw::Read(keeper.child_events, events, sizeof events);
    }
    if (fds[1].revents != 0) {
      Obey(keeper);
      listening = !keeper.killing;
    }
  }
  raw::Exit(0);
}

int ChildEvents() {
  long mask = 1L << (kSigChild - 1);
  return static_cast<int>(raw::Syscall(__NR_signalfd4, -1, raw::Address(&mask), sizeof mask, 02004000));
}

[[noreturn]] void Run(const char* const* argv, const char* const* envp) {
  SetSignalMask(kAllSignals);
  ResetSignalActions();
  // A signal to the server's group must not take the keepers with it: they are the ones who clean up.
  raw::Syscall(__NR_setpgid, 0, 0);
  raw::Syscall(__NR_fcntl, kKeeperControlFd, 2 /* F_SETFD */, 1 /* FD_CLOEXEC */);
  raw::Prctl(PR_SET_NAME, reinterpret_cast<unsigned long>(argv[kKeeperName]));
  raw::Prctl(PR_SET_CHILD_SUBREAPER, 1);
  // A command may stop its parent; the server's death wakes it again, so that it can clean up.
  raw::Prctl(PR_SET_PDEATHSIG, kSigContinue);
  Command command = {argv + kKeeperArgs,          envp, argv[kKeeperDirectory], argv[kKeeperProgram],
                     argv[kKeeperSearchPath],     argv[kKeeperIo][0] == 't',    0,
                     StartStep::kNone};
  int leader = Start(command);
  if (command.start_step != StartStep::kNone) {
    Send({KeeperReportKind::kStartFailed, command.start_errno, command.start_step});
    raw::Exit(0);
  }
  Send({KeeperReportKind::kStarted, leader, StartStep::kNone});
  // Our copies would keep the command's pipes and terminal open, our directory its mount busy.
  for (int fd = 0; fd <= 2; ++fd) raw::Close(fd);
  raw::Syscall(__NR_chdir, raw::Address("/"));
  Keeper keeper = {static_cast<int>(raw::Syscall(__NR_getpid)), ChildEvents(), leader, false};
  Keep(keeper);
}

}  // namespace
}  // namespace holdfast::process

extern "C" [[noreturn]] void KeeperMain(const long* stack) {
  long argc = stack[0];
  auto* argv = reinterpret_cast<const char* const*>(stack + 1);
  if (argc < holdfast::process::kKeeperArgs) holdfast::sys::raw::Exit(2);
  holdfast::process::Run(argv, argv + argc + 1);
}

// The kernel enters with argc at the top of the stack.
asm(".globl _start\n"
    "_start:\n\t"
    "xor %ebp, %ebp\n\t"
    "mov %rsp, %rdi\n\t"
    "and $-16, %rsp\n\t"
    "call KeeperMain\n");
