// The starter, which executes a command outside of the sandbox with the descriptors and the state of the process that
// wanted to execute it. escalate/stub/protocol.h describes its order. The program has no libc, so that executing it
// takes a few dozen microseconds.

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/socket.h>

#include <cerrno>
#include <csignal>

#include "escalate/stub/execution.h"
#include "escalate/stub/protocol.h"
#include "sys/exit_codes.h"
#include "sys/raw.h"
#include "sys/raw_entry.h"

namespace holdfast::escalate {
namespace {

namespace raw = sys::raw;

constexpr int kLastSignal = 64;

// The order, read into memory.
struct Task {
  StarterOrder order;
  const char** pointers;
  int* held;     // the numbers that the descriptors have
  int* numbers;  // the numbers that they get
  const char* strings;
};

[[noreturn]] void FailOnDescriptors() { Fail("", "descriptors", EMFILE, sys::kCannotExecute); }

void ReadOrder(Task& task) {
  StarterOrder& order = task.order;
  if (ReadAt(kStarterOrderFd, &order, sizeof order, 0) != Reading::kComplete) raw::Exit(sys::kCannotExecute);
  const unsigned long number_bytes = order.fd_count * sizeof(int);
  const unsigned long pointer_bytes = PointerCount(order.image) * sizeof(char*);
  const unsigned long bytes = number_bytes + order.image.bytes;
  char* const memory = Allocate(pointer_bytes + number_bytes + bytes);
  if (memory == nullptr) raw::Exit(sys::kCannotExecute);
  task.pointers = reinterpret_cast<const char**>(memory);
  task.held = reinterpret_cast<int*>(memory + pointer_bytes);
  task.numbers = task.held + order.fd_count;
  if (ReadAt(kStarterOrderFd, task.numbers, bytes, sizeof order) != Reading::kComplete) raw::Exit(sys::kCannotExecute);
  task.strings = reinterpret_cast<const char*>(task.numbers + order.fd_count);
}

// The starter begins with the default action of every signal and without blocked ones.
void TakeOver(const ProcessState& state) {
  struct {
    unsigned long handler, flags, restorer, mask;
  } ignore = {1, 0, 0, 0};
  for (int signal = 1; signal <= kLastSignal; ++signal) {
    if ((state.ignored_signals >> (signal - 1) & 1) == 0) continue;
    raw::Syscall(__NR_rt_sigaction, signal, raw::Address(&ignore), 0, sizeof ignore.mask);
  }
  raw::Syscall(__NR_rt_sigprocmask, SIG_SETMASK, raw::Address(&state.blocked_signals), 0, sizeof state.blocked_signals);
  raw::Syscall(__NR_umask, state.umask);
  // A priority above that of the server is kept from a starter without privileges.
  raw::Syscall(__NR_setpriority, PRIO_PROCESS, 0, state.nice);
}

// Receives the descriptors of one packet. Returns their number.
unsigned ReceivePacket(int* held, unsigned missing) {
  alignas(cmsghdr) char space[CMSG_SPACE(kMaxStarterFds * sizeof(int))];
  char byte;
  iovec bytes = {&byte, sizeof byte};
  msghdr message = {nullptr, 0, &bytes, 1, space, sizeof space, 0};
  const long size = raw::Syscall(__NR_recvmsg, kStarterSocketFd, raw::Address(&message), 0);
  if (size == -EINTR) return 0;
  const auto* const header = reinterpret_cast<const cmsghdr*>(space);
  if (size != 1 || message.msg_controllen < CMSG_LEN(sizeof(int)) || (message.msg_flags & MSG_CTRUNC) != 0) {
    FailOnDescriptors();
  }
  const unsigned long count = (header->cmsg_len - CMSG_LEN(0)) / sizeof(int);
  if (count > missing) raw::Exit(sys::kCannotExecute);
  const auto* const received = reinterpret_cast<const int*>(space + CMSG_LEN(0));
  for (unsigned long i = 0; i < count; ++i) held[i] = received[i];
  return static_cast<unsigned>(count);
}

// The lowest numbers are free, so that the descriptors of most commands arrive under the numbers that they get.
void ReceiveDescriptors(const Task& task) {
  raw::Syscall(__NR_close_range, 0, kStarterDirectoryFd, 0);
  for (unsigned done = 0; done < task.order.fd_count;) {
    done += ReceivePacket(task.held + done, task.order.fd_count - done);
  }
  raw::Close(kStarterSocketFd);
}

// Gives each descriptor its number. A descriptor that has the number of another one is moved out of the way.
void PlaceDescriptors(const Task& task) {
  for (unsigned i = 0; i < task.order.fd_count; ++i) {
    const int number = task.numbers[i];
    if (task.held[i] == number) continue;
    for (unsigned j = i + 1; j < task.order.fd_count; ++j) {
      if (task.held[j] != number) continue;
      task.held[j] = static_cast<int>(raw::Syscall(__NR_fcntl, number, F_DUPFD, 0));
      if (task.held[j] < 0) FailOnDescriptors();
    }
    if (raw::Syscall(__NR_dup2, task.held[i], number) < 0) FailOnDescriptors();
    raw::Close(task.held[i]);
  }
}

unsigned long Lower(unsigned long one, unsigned long other) { return one < other ? one : other; }

// Comes last, because the starter itself would not get on with every limit. Without privileges a limit that was lowered
// cannot be raised again, and with privileges it shall not be.
void TakeOverLimits(const StarterOrder& order) {
  for (unsigned resource = 0; resource < order.limit_count && resource < kMaxLimits; ++resource) {
    ResourceLimit own;
    if (raw::Syscall(__NR_prlimit64, 0, resource, 0, raw::Address(&own)) != 0) continue;
    const ResourceLimit& wanted = order.limits[resource];
    own.hard = Lower(wanted.hard, own.hard);
    own.soft = Lower(wanted.soft, own.hard);
    raw::Syscall(__NR_prlimit64, 0, resource, raw::Address(&own), 0);
  }
}

[[noreturn]] void Start() {
  Task task;
  ReadOrder(task);
  TakeOver(task.order.state);
  // The numbers of the starter's own descriptors become free here. A failure is reported when the command's are there.
  const int directory_error = static_cast<int>(-raw::Syscall(__NR_fchdir, kStarterDirectoryFd));
  ReceiveDescriptors(task);
  PlaceDescriptors(task);
  if (directory_error != 0) Fail("", "cd", directory_error, sys::kCannotExecute);
  TakeOverLimits(task.order);
  FailExecution(task.strings, Execute(task.order.image, task.strings, task.pointers));
}

}  // namespace
}  // namespace holdfast::escalate

extern "C" [[noreturn]] void StarterMain(const long*) { holdfast::escalate::Start(); }

HOLDFAST_ENTRY(StarterMain);
