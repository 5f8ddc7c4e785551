// The stub, which stands in the sandbox in the place of a command. escalate/stub/protocol.h describes its orders and
// its messages. The program has no libc and no heap, so that executing it takes a few dozen microseconds.

#include <linux/prctl.h>
#include <poll.h>
#include <sys/resource.h>
#include <sys/socket.h>

#include <cerrno>
#include <csignal>

#include "escalate/stub/execution.h"
#include "escalate/stub/protocol.h"
#include "sys/exit_codes.h"
#include "sys/raw.h"
#include "sys/raw_entry.h"
#include "sys/short_slices.h"

namespace holdfast::escalate {
namespace {

namespace raw = sys::raw;

constexpr int kLastSignal = 64;

// The kernel's struct sigaction.
struct Action {
  unsigned long handler, flags, restorer, mask;
};

constexpr unsigned long kDefault = 0, kIgnore = 1;
constexpr unsigned long kRestorerFlag = 0x04000000;  // SA_RESTORER

constexpr unsigned long SignalBit(int signal) { return 1UL << (signal - 1); }

// The signals that concern the stub itself and not the command outside: those that no process can catch, the ends of
// children, and those that the kernel sends for a fault or a limit of the process itself. All others are passed on.
constexpr unsigned long kOwnSignals = SignalBit(SIGKILL) | SignalBit(SIGSTOP) | SignalBit(SIGCHLD) | SignalBit(SIGILL) |
                                      SignalBit(SIGTRAP) | SignalBit(SIGBUS) | SignalBit(SIGFPE) | SignalBit(SIGSEGV) |
                                      SignalBit(SIGSYS) | SignalBit(SIGXCPU) | SignalBit(SIGXFSZ);

int g_control = -1;
volatile unsigned g_sent_continues = 0;

struct Packet {
  StubOrder order;
  char text[kMaxTextBytes];
};

void Await(int fd, short events) {
  pollfd wanted = {fd, events, 0};
  raw::Syscall(__NR_poll, raw::Address(&wanted), 1, -1);
}

// No message is ever dropped: while the socket is full, the stub waits. The call is write and not sendto, which the
// sandbox's filter may refuse.
void Send(const StubMessage& message) {
  for (;;) {
    const long size = raw::Write(g_control, &message, sizeof message);
    if (size == sizeof message) return;
    if (size == -EAGAIN) {
      Await(g_control, POLLOUT);
    } else if (size != -EINTR) {
      raw::Exit(kNoSupervisor);
    }
  }
}

void SendSignal(int signal) {
  if (signal == SIGCONT) g_sent_continues = g_sent_continues + 1;
  StubMessage message;
  message.kind = StubMessageKind::kSignal;
  message.value = signal;
  Send(message);
}

// Receives one order. Returns the attached descriptor, or -1.
int Receive(Packet& packet) {
  alignas(cmsghdr) char space[CMSG_SPACE(sizeof(int))];
  iovec bytes = {&packet, sizeof packet};
  msghdr message;
  message.msg_name = nullptr;
  message.msg_namelen = 0;
  message.msg_iov = &bytes;
  message.msg_iovlen = 1;
  for (;;) {
    message.msg_control = space;
    message.msg_controllen = sizeof space;
    message.msg_flags = 0;
    const long size = raw::Syscall(__NR_recvmsg, g_control, raw::Address(&message), MSG_CMSG_CLOEXEC);
    if (size >= static_cast<long>(sizeof packet.order)) break;
    if (size == -EAGAIN) {
      Await(g_control, POLLIN);
    } else if (size != -EINTR) {
      raw::Exit(kNoSupervisor);
    }
  }
  if (message.msg_controllen < CMSG_LEN(sizeof(int))) return -1;
  return *reinterpret_cast<const int*>(space + CMSG_LEN(0));
}

// Returns from a handler. The kernel asks the program for this code.
[[gnu::naked]] void Return() {
  asm("mov $15, %eax\n\t"  // rt_sigreturn
      "syscall");
}

// Returns the action of the signal before.
unsigned long SetAction(int signal, unsigned long handler) {
  Action action = {handler, SA_RESTART | kRestorerFlag, reinterpret_cast<unsigned long>(Return), ~0UL}, before;
  before.handler = kDefault;
  raw::Syscall(__NR_rt_sigaction, signal, raw::Address(&action), raw::Address(&before), sizeof action.mask);
  return before.handler;
}

// Blocks exactly the signals of the set, and returns those that were blocked before.
unsigned long Block(unsigned long signals) {
  unsigned long before = 0;
  raw::Syscall(__NR_rt_sigprocmask, SIG_SETMASK, raw::Address(&signals), raw::Address(&before), sizeof signals);
  return before;
}

// All signals are blocked while the handler runs, so that it may wait until the socket has room.
void OnSignal(int signal) { SendSignal(signal); }

// Catches the signals that are not ignored, and returns those that are.
unsigned long CatchSignals() {
  unsigned long ignored = 0;
  for (int signal = 1; signal <= kLastSignal; ++signal) {
    const bool is_own = (kOwnSignals & SignalBit(signal)) != 0;
    const unsigned long before = SetAction(signal, is_own ? kDefault : reinterpret_cast<unsigned long>(OnSignal));
    if (before != kIgnore) continue;
    ignored |= SignalBit(signal);
    SetAction(signal, kIgnore);
  }
  return ignored;
}

[[noreturn]] void Run(int file) {
  Image image;
  if (ReadAt(file, &image, sizeof image, 0) != Reading::kComplete) raw::Exit(kNoSupervisor);
  const unsigned long pointer_bytes = PointerCount(image) * sizeof(char*);
  char* const memory = Allocate(pointer_bytes + image.bytes);
  if (memory == nullptr) raw::Exit(sys::kCannotExecute);
  char* const strings = memory + pointer_bytes;
  if (ReadAt(file, strings, image.bytes, sizeof image) != Reading::kComplete) raw::Exit(kNoSupervisor);
  FailExecution(strings, Execute(image, strings, reinterpret_cast<const char**>(memory)));
}

[[noreturn]] void WriteTextAndExit(const Packet& packet, int exit_code) {
  SetAction(SIGPIPE, kIgnore);
  const unsigned long size = packet.order.size < kMaxTextBytes ? packet.order.size : kMaxTextBytes;
  for (unsigned long done = 0; done < size;) {
    const long n = raw::Write(2, packet.text + done, size - done);
    if (n == -EAGAIN) {
      Await(2, POLLOUT);
    } else if (n > 0) {
      done += static_cast<unsigned long>(n);
    } else if (n != -EINTR) {
      break;
    }
  }
  raw::Exit(exit_code);
}

void SendToSelf(int signal) { raw::Kill(static_cast<int>(raw::Syscall(__NR_getpid)), signal); }

// A process that is not dumpable leaves no core file, whatever its limit and the machine's settings are.
[[noreturn]] void Die(int signal) {
  raw::Prctl(PR_SET_DUMPABLE, 0);
  SetAction(signal, kDefault);
  SendToSelf(signal);
  raw::Exit(128 + signal);
}

void Stop(const StubOrder& order) {
  const unsigned before = g_sent_continues;
  if (order.continue_count != before) return;
  const unsigned long action = SetAction(order.value, kDefault);
  SendToSelf(order.value);
  SetAction(order.value, action);
  // The SIGCONT after a stop is sent by the handler. It is missing if SIGCONT is ignored or the stub was not stopped.
  if (g_sent_continues == before) SendSignal(SIGCONT);
}

// All signals are blocked until kReady is sent, so that it comes before every kSignal. Then all are let in, also those
// that were blocked: the command outside blocks them itself.
void GetReady() {
  StubMessage ready;
  ready.kind = StubMessageKind::kReady;
  ready.value = 0;
  ready.state.blocked_signals = Block(~0UL);
  ready.state.ignored_signals = CatchSignals();
  ready.state.umask = static_cast<unsigned>(raw::Syscall(__NR_umask, 0));  // the stub itself makes no files
  ready.state.nice = 20 - static_cast<int>(raw::Syscall(__NR_getpriority, PRIO_PROCESS, 0));
  raw::AskForShortSlices();  // the stub only relays from now on, and executes no other program
  raw::Prctl(PR_SET_DUMPABLE, 1);
  Send(ready);
  Block(0);
}

[[noreturn]] void StandIn() {
  GetReady();
  Packet packet;
  for (;;) {
    Receive(packet);
    switch (packet.order.kind) {
      case StubOrderKind::kExit:
        WriteTextAndExit(packet, packet.order.value);
      case StubOrderKind::kDie:
        Die(packet.order.value);
      case StubOrderKind::kStop:
        Stop(packet.order);
        break;
      default:
        raw::Exit(kNoSupervisor);
    }
  }
}

[[noreturn]] void ObeyFirstOrder() {
  Packet packet;
  const int file = Receive(packet);
  switch (packet.order.kind) {
    case StubOrderKind::kRun:
      Run(file);
    case StubOrderKind::kRefuse:
      WriteTextAndExit(packet, 1);
    case StubOrderKind::kStandIn:
      StandIn();
    default:
      raw::Exit(kNoSupervisor);
  }
}

[[noreturn]] void AskAndObey() {
  g_control = static_cast<int>(raw::Syscall(__NR_execve, static_cast<long>(kHelloPath), static_cast<long>(kHelloArgv),
                                            static_cast<long>(kHelloEnvp)));
  if (g_control < 0) raw::Exit(kNoSupervisor);
  ObeyFirstOrder();
}

}  // namespace
}  // namespace holdfast::escalate

extern "C" [[noreturn]] void StubMain(const long*) { holdfast::escalate::AskAndObey(); }

HOLDFAST_ENTRY(StubMain);
