// The keeper program, which a keeper executes once its command runs. process/keeper/protocol.h describes the life of a
// keeper and its messages. The program has no libc and no heap, so that executing it takes a few dozen microseconds and
// each running keeper needs only a few pages.

#include <linux/prctl.h>
#include <poll.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include <cerrno>
#include <csignal>
#include <ctime>

#include "process/keeper/protocol.h"
#include "sys/exit_status.h"
#include "sys/raw.h"
#include "sys/raw_children.h"
#include "sys/raw_entry.h"
#include "sys/short_slices.h"

namespace holdfast::process {
namespace {

namespace raw = sys::raw;

constexpr unsigned kToProcessGroup = 1 << 2;  // PIDFD_SIGNAL_PROCESS_GROUP, since Linux 6.9

// The numbers of dead children that are reaped, and of processes that are looked at, before the keeper checks for the
// next instruction.
constexpr int kReapsPerTurn = 64;
constexpr int kLooksPerTurn = 4096;
constexpr int kMostProcesses = 1 << 16;  // the most processes that one signal is sent to

// A command can have more children end than its keeper has time to reap. The keeper then pauses for this time, because
// other processes need the processor too.
constexpr timespec kRest = {0, 5'000'000};
constexpr int kIdleWakesBeforeRest = 16;

// While the keeper kills, it looks for processes again after this time, whether a child has ended or not. The time
// doubles while nothing happens, because some processes cannot be killed.
constexpr long kFirstKillIntervalNs = 10'000'000, kLastKillIntervalNs = 640'000'000;

// The leader is the command's process, which leads the command's process group.
struct Keeper {
  int leader;  // its pid, or 0 once its exit is known
  bool kernel_keeps_status, reports_stops;
  int child_events;                           // signalfd for SIGCHLD
  timespec grace;                             // the rest of the time that the leftovers of a killed leader have
  raw::ProcessList processes = {.proc = -1};  // opened at the first look
  int leader_fd = -1;                         // the leader's pidfd, if the kernel reaps by itself
  bool reaps = true;                          // false if the kernel reaps by itself
  bool exit_sent = false;
  bool stop_sent = false;       // a stop was sent since the last SIGCONT from the server
  unsigned continue_count = 0;  // the number of SIGCONTs from the server
  bool killing = false;
  bool leader_killed = false;
  bool resting = false;
  int idle_wakes = 0;
  long kill_interval_ns = kFirstKillIntervalNs;
};

void Send(KeeperEvent event) {
  // If the server is gone, the next poll notices it.
  raw::Syscall(__NR_sendto, kKeeperControlFd, raw::Address(&event), sizeof event, MSG_NOSIGNAL);
}

long Wait(int id_type, int id, siginfo_t& status, int options) {
  for (;;) {
    status = {};
    long error = raw::Syscall(__NR_waitid, id_type, id, raw::Address(&status), WNOHANG | __WALL | options);
    if (error != -EINTR) return error;
  }
}

void SendExit(Keeper& keeper, int wait_status) {
  if (keeper.exit_sent) return;
  keeper.exit_sent = true;
  Send({KeeperEventKind::kExited, wait_status, StartStep::kNone});
}

int WaitStatus(const siginfo_t& status) {
  return status.si_code == CLD_EXITED ? status.si_status << 8 : status.si_status;
}

// The leader, as waitid names it.
int IdType(const Keeper& keeper) { return keeper.reaps ? P_PID : P_PIDFD; }
int Id(const Keeper& keeper) { return keeper.reaps ? keeper.leader : keeper.leader_fd; }

// Checks whether the command has ended. Its exit is sent before it is reaped, because reaping takes the kernel longer
// than the answer should. If the kernel reaps by itself, the status is available a moment after the child is gone.
void LookAtLeader(Keeper& keeper) {
  if (keeper.leader == 0) return;
  siginfo_t status;
  const long error = Wait(IdType(keeper), Id(keeper), status, WEXITED | WNOWAIT);
  if (error == 0 && status.si_pid == 0) return;
  const int reaped_status = error == 0 ? 0 : raw::StatusAfterReaping(keeper.leader_fd);
  if (reaped_status < 0) return;
  SendExit(keeper, error == 0 ? WaitStatus(status) : reaped_status);
  if (error == 0) Wait(IdType(keeper), Id(keeper), status, WEXITED);
  keeper.leader = 0;
}

// A process of the command may stop and continue it without end. So a stop is not sent again before the server has sent
// a SIGCONT, and the socket has room for the exit.
void LookForStop(Keeper& keeper) {
  if (!keeper.reports_stops || keeper.leader == 0) return;
  siginfo_t status;
  if (Wait(IdType(keeper), Id(keeper), status, WSTOPPED) != 0 || status.si_pid == 0) return;
  if (keeper.stop_sent) return;
  keeper.stop_sent = true;
  Send({KeeperEventKind::kStopped, status.si_status, StartStep::kNone, keeper.continue_count});
}

enum class Children { kNone, kSome, kManyDead };

Children Reap(Keeper& keeper) {
  LookAtLeader(keeper);
  siginfo_t status;
  for (int i = 0; i < kReapsPerTurn; ++i) {
    const long error = Wait(P_ALL, 0, status, WEXITED);
    if (error == -ECHILD) {
      LookAtLeader(keeper);
      return keeper.leader == 0 ? Children::kNone : Children::kSome;
    }
    if (error != 0 || status.si_pid == 0) return Children::kSome;
    if (status.si_pid != keeper.leader) continue;
    SendExit(keeper, WaitStatus(status));  // it ended after the call of LookAtLeader above
    keeper.leader = 0;
  }
  return Children::kManyDead;
}

// Signals a child and the group that it leads. If the kernel reaps by itself, this is done by pidfd, because the pid
// may belong to another process at any moment. Older kernels cannot signal a group by pidfd; there the keeper reaps.
void SignalChild(const Keeper& keeper, int pid, int signal) {
  if (keeper.reaps) {
    if (raw::Kill(-pid, signal) != 0 || signal == SIGKILL) raw::Kill(pid, signal);
    return;
  }
  const int pidfd = static_cast<int>(raw::PidfdOpen(pid));
  if (pidfd < 0) return;
  siginfo_t status;
  if (Wait(P_PIDFD, pidfd, status, WEXITED | WNOWAIT) == 0) {
    if (raw::PidfdSignal(pidfd, signal, kToProcessGroup) != 0 || signal == SIGKILL) {
      raw::PidfdSignal(pidfd, signal);
    }
  }
  raw::Close(pidfd);
}

// The group can outlive its leader.
void SignalLeadersGroup(const Keeper& keeper, int signal) {
  if (keeper.reaps || raw::PidfdSignal(keeper.leader_fd, signal, kToProcessGroup) != 0) {
    raw::Kill(-keeper.leader, signal);
  }
}

void OpenProcesses(Keeper& keeper) {
  if (keeper.processes.proc < 0) keeper.processes = raw::ProcessList::Open();
}

// Kills the children that one look finds. Their own children become the keeper's as they die, and the next look finds
// them.
void KillChildren(Keeper& keeper) {
  OpenProcesses(keeper);
  const raw::Look look =
      raw::VisitChildren(keeper.processes, kLooksPerTurn, [&](int pid) { SignalChild(keeper, pid, SIGKILL); });
  if (look == raw::Look::kComplete) keeper.processes.GoToBegin();
}

bool HasGrace(const Keeper& keeper) { return keeper.grace.tv_sec != 0 || keeper.grace.tv_nsec != 0; }

// The leader is killed first: most commands leave no process behind, and then /proc is never read.
void KillAll(Keeper& keeper) {
  if (keeper.leader != 0) {
    SignalLeadersGroup(keeper, SIGKILL);
    keeper.reaps ? raw::Kill(keeper.leader, SIGKILL) : raw::PidfdSignal(keeper.leader_fd, SIGKILL);
    const bool is_first = !keeper.leader_killed;
    keeper.leader_killed = true;
    if (is_first || HasGrace(keeper)) return;
  }
  KillChildren(keeper);
}

// Signals the command's process group or, after the command has ended, the processes that it left behind.
void Signal(Keeper& keeper, int signal) {
  if (signal == SIGCONT) {
    ++keeper.continue_count;
    keeper.stop_sent = false;
  }
  if (keeper.leader != 0) return SignalLeadersGroup(keeper, signal);
  OpenProcesses(keeper);
  keeper.processes.GoToBegin();
  // The number of processes is bounded, so that processes that start meanwhile cannot keep this loop going for ever.
  raw::VisitChildren(keeper.processes, kMostProcesses, [&](int pid) { SignalChild(keeper, pid, signal); });
  keeper.processes.GoToBegin();
}

void ReadInstruction(Keeper& keeper) {
  KeeperInstruction instruction;
  long size = raw::Read(kKeeperControlFd, &instruction, sizeof instruction);
  if (size == -EINTR || size == -EAGAIN) return;
  if (size == sizeof instruction && instruction.kind == KeeperInstructionKind::kSignal) {
    return Signal(keeper, instruction.value);
  }
  keeper.killing = true;  // kKill, or the server is gone
}

// Returns whether the processes left behind may still clean up before they are killed.
bool IsPatient(const Keeper& keeper) { return keeper.killing && keeper.leader == 0 && HasGrace(keeper); }

// The kernel subtracts the time that has passed from the limit, so that a command that forks without end gets no more
// grace than others.
long Poll(pollfd (&fds)[2], timespec* limit) {
  return raw::Syscall(__NR_ppoll, raw::Address(fds), 2, raw::Address(limit), 0, 0);
}

long PollWhileKilling(Keeper& keeper, pollfd (&fds)[2], Children left) {
  if (IsPatient(keeper)) {
    const long ready = Poll(fds, &keeper.grace);
    if (ready <= 0) keeper.grace = {};
    return ready;
  }
  timespec limit = {0, left == Children::kManyDead ? 0 : keeper.kill_interval_ns};
  const long ready = Poll(fds, &limit);
  if (ready > 0 || left == Children::kManyDead) {
    keeper.kill_interval_ns = kFirstKillIntervalNs;
  } else if (keeper.kill_interval_ns < kLastKillIntervalNs) {
    keeper.kill_interval_ns *= 2;
  }
  return ready;
}

// The end of children other than the leader matters if the keeper has to reap them, or if the end of the last one ends
// the keeper.
bool WatchesChildren(const Keeper& keeper) {
  return keeper.killing || (!keeper.resting && (keeper.reaps || keeper.leader == 0));
}

void Await(Keeper& keeper, Children left) {
  const bool has_leader_to_look_at = keeper.leader != 0 && !keeper.reaps;
  const bool is_busy = left == Children::kManyDead || keeper.idle_wakes >= kIdleWakesBeforeRest;
  keeper.resting = !keeper.killing && (is_busy || has_leader_to_look_at);
  if (keeper.resting) keeper.idle_wakes = 0;
  pollfd fds[2] = {{WatchesChildren(keeper) ? keeper.child_events : -1, POLLIN, 0},
                   {keeper.killing ? -1 : kKeeperControlFd, POLLIN, 0}};
  timespec rest = kRest;
  if (keeper.killing) {
    PollWhileKilling(keeper, fds, left);
  } else {
    Poll(fds, keeper.resting ? &rest : nullptr);
  }
  if (fds[0].revents != 0) {
    ++keeper.idle_wakes;
    char events[128 * 4];
    raw::Read(keeper.child_events, events, sizeof events);
  }
  if (fds[1].revents != 0) ReadInstruction(keeper);
}

// From here on children do not become zombies; those that are zombies already must still be reaped. The keeper asks for
// short time slices, because it gets little time on the processor beside so many processes.
void LetKernelReap(Keeper& keeper) {
  raw::AskForShortSlices();
  keeper.leader_fd = keeper.leader != 0 ? static_cast<int>(raw::PidfdOpen(keeper.leader)) : -1;
  if (keeper.leader != 0 && keeper.leader_fd < 0) return;
  struct {
    long handler, flags, restorer, mask;
  } action = {0, SA_NOCLDWAIT, 0, 0};
  if (raw::Syscall(__NR_rt_sigaction, SIGCHLD, raw::Address(&action), 0, sizeof(long)) == 0) keeper.reaps = false;
}

[[noreturn]] void Keep(Keeper& keeper) {
  for (;;) {
    const Children left = Reap(keeper);
    if (left == Children::kNone) raw::Exit(0);
    LookForStop(keeper);
    if (left == Children::kManyDead && keeper.reaps && keeper.kernel_keeps_status) LetKernelReap(keeper);
    if (keeper.killing && !IsPatient(keeper)) KillAll(keeper);
    Await(keeper, left);
  }
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

// The keeper starts with all signals blocked, as a subreaper, and with the signal at the server's death set: these
// settings survive the exec.
[[noreturn]] void Run(const char* const* argv) {
  int leader = Number(argv[1]);
  raw::Prctl(PR_SET_NAME, reinterpret_cast<unsigned long>(argv[0]));
  raw::Syscall(__NR_chdir, raw::Address("/"));  // staying in the server's directory would keep its mount busy
  Keeper keeper = {.leader = leader,
                   .kernel_keeps_status = Number(argv[3]) != 0,
                   .reports_stops = Number(argv[4]) != 0,
                   .child_events = ChildEvents(),
                   .grace = Milliseconds(Number(argv[2]))};
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

HOLDFAST_ENTRY(KeeperMain);
