// The keeper program: what a keeper becomes once its command runs. See process/keeper_protocol.h for its life and its
// words. It has no libc and no heap, so that executing it costs a few dozen microseconds and holding one a few pages.

#include <linux/prctl.h>
#include <poll.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include <cerrno>
#include <csignal>
#include <ctime>

#include "process/keeper_protocol.h"
#include "sys/raw.h"
#include "sys/raw_children.h"

namespace holdfast::process {
namespace {

namespace raw = sys::raw;

struct Keeper {
  int self;
  int child_events;  // signalfd for SIGCHLD
  int leader;        // 0 once reaped
  timespec grace;    // what is left of it, for what a killed leader leaves behind
  bool exit_reported;
  bool killing;
};

void Send(KeeperReport report) {
  // A server that is gone is noticed by the next poll.
  raw::Syscall(__NR_sendto, kKeeperControlFd, raw::Address(&report), sizeof report, MSG_NOSIGNAL);
}

long Wait(int id_type, int id, siginfo_t& status, int more_options) {
  for (;;) {
    status = {};
    long error =
        raw::Syscall(__NR_waitid, id_type, id, raw::Address(&status), WEXITED | WNOHANG | __WALL | more_options);
    if (error != -EINTR) return error;
  }
}

void ReportExit(Keeper& keeper, const siginfo_t& status) {
  if (keeper.exit_reported) return;
  keeper.exit_reported = true;
  bool exited = status.si_code == CLD_EXITED;
  Send({KeeperReportKind::kExited, exited ? status.si_status : 128 + status.si_status, StartStep::kNone});
}

// Reaps what has ended. False when no child is left at all. The command's exit is reported before it is reaped, which
// takes the kernel longer than the answer should.
bool Reap(Keeper& keeper) {
  siginfo_t status;
  if (!keeper.exit_reported && Wait(P_PID, keeper.leader, status, WNOWAIT) == 0 && status.si_pid != 0) {
    ReportExit(keeper, status);
  }
  for (;;) {
    long error = Wait(P_ALL, 0, status, 0);
    if (error == -ECHILD) return false;
    if (error != 0 || status.si_pid == 0) return true;
    if (status.si_pid != keeper.leader) continue;
    ReportExit(keeper, status);  // it ended after the look above
    keeper.leader = 0;
  }
}

// Kills the command's group and every direct child with its own group. What they leave behind becomes our child as they
// die, and SIGCHLD brings us here again, until none is left. The leader goes first: most commands leave nothing, and
// then /proc is never read.
void KillAll(const Keeper& keeper) {
  if (keeper.leader != 0) {
    raw::Kill(-keeper.leader, SIGKILL);
    raw::Kill(keeper.leader, SIGKILL);
    return;
  }
  raw::ForEachChild(keeper.self, [](int pid) {
    raw::Kill(-pid, SIGKILL);
    raw::Kill(pid, SIGKILL);
  });
}

// To the command's group, or once it has ended to what it left behind.
void Signal(const Keeper& keeper, int signal) {
  if (keeper.leader != 0) {
    raw::Kill(-keeper.leader, signal);
    return;
  }
  raw::ForEachChild(keeper.self, [signal](int pid) {
    if (raw::Kill(-pid, signal) != 0) raw::Kill(pid, signal);
  });
}

void Obey(Keeper& keeper) {
  KeeperOrder order;
  long size = raw::Read(kKeeperControlFd, &order, sizeof order);
  if (size == -EINTR || size == -EAGAIN) return;
  if (size == sizeof order && order.kind == KeeperOrderKind::kSignal) {
    return Signal(keeper, order.value);
  }
  keeper.killing = true;  // kKill, or the server is gone
}

// Whether leftovers may still clean up before they are killed.
bool IsPatient(const Keeper& keeper) {
  return keeper.killing && keeper.leader == 0 && (keeper.grace.tv_sec != 0 || keeper.grace.tv_nsec != 0);
}

// For the next event; the kernel takes the time that has passed off the grace, so that who forks without end gets no
// more of it than others.
void Await(Keeper& keeper, pollfd (&fds)[2]) {
  const bool is_patient = IsPatient(keeper);
  const long limit = is_patient ? raw::Address(&keeper.grace) : 0;
  const long ready = raw::Syscall(__NR_ppoll, raw::Address(fds), 2, limit, 0, 0);
  if (is_patient && ready <= 0) keeper.grace = {};
}

[[noreturn]] void Keep(Keeper& keeper) {
  bool listening = true;
  while (Reap(keeper)) {
    if (keeper.killing && !IsPatient(keeper)) KillAll(keeper);
    pollfd fds[2] = {{keeper.child_events, POLLIN, 0}, {listening ? kKeeperControlFd : -1, POLLIN, 0}};
    Await(keeper, fds);
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
  long mask = 1L << (SIGCHLD - 1);
  return static_cast<int>(
      raw::Syscall(__NR_signalfd4, -1, raw::Address(&mask), sizeof mask, SFD_NONBLOCK | SFD_CLOEXEC));
}

int Number(const char* text) {
  int number = 0;
  for (; *text != '\0'; ++text) number = number * 10 + (*text - '0');
  return number;
}

timespec Milliseconds(int count) { return {count / 1000, count % 1000 * 1'000'000}; }

// All signals are blocked, the subreaper flag and the signal at the server's death are set: these come through exec.
[[noreturn]] void Run(const char* const* argv) {
  int leader = Number(argv[1]);
  // Our copies would keep the command's pipes and terminal open, our directory its mount busy. Whoever hears of the
  // start may ask right away whether the other end is still there, so the copies go first; in one call, because a
  // command that keeps stopping its keeper leaves time for little more than the report.
  raw::Syscall(__NR_close_range, 0, 2, 0);
  Send({KeeperReportKind::kStarted, leader, StartStep::kNone});
  raw::Prctl(PR_SET_NAME, reinterpret_cast<unsigned long>(argv[0]));
  raw::Syscall(__NR_chdir, raw::Address("/"));
  Keeper keeper = {.self = static_cast<int>(raw::Syscall(__NR_getpid)),
                   .child_events = ChildEvents(),
                   .leader = leader,
                   .grace = Milliseconds(Number(argv[2])),
                   .exit_reported = false,
                   .killing = false};
  Keep(keeper);
}

}  // namespace
}  // namespace holdfast::process

extern "C" [[noreturn]] void KeeperMain(const long* stack) {
  long argc = stack[0];
  auto* argv = reinterpret_cast<const char* const*>(stack + 1);
  if (argc != holdfast::process::kKeeperArgCount) holdfast::sys::raw::Exit(2);
  holdfast::process::Run(argv);
}

// The kernel enters with argc at the top of the stack.
asm(".globl _start\n"
    "_start:\n\t"
    "xor %ebp, %ebp\n\t"
    "mov %rsp, %rdi\n\t"
    "and $-16, %rsp\n\t"
    "call KeeperMain\n");
