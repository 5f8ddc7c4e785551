// The protocols of the two small programs by which an execve is redirected. There are no libc types, because both
// programs are freestanding.
//
// The *stub* (apps/exec_stub) stands in the sandbox in the place of a command: the supervisor turns the pending execve
// into an execution of the stub, so that a parent which waits for the execve goes on. The stub asks for its control
// socket by an execve with the three numbers below, which the supervisor answers with a close-on-exec descriptor. Then
// it receives orders, and sends a message for each signal that it gets. All messages are packets of a SOCK_SEQPACKET
// pair. A stub whose supervisor is gone exits with kNoSupervisor.
//
// The *starter* (apps/exec_starter) runs outside of the sandbox, under a keeper. It receives the descriptors and the
// state that the stub's process had, takes them over, and executes the command in its own place.
#pragma once

namespace holdfast::escalate {

// The state of a process that a program which it executes inherits. A command outside gets the state of the process
// that the stub stands in for.
struct ProcessState {
  unsigned umask = 022;
  int nice = 0;
  unsigned long ignored_signals = 0, blocked_signals = 0;  // bit N-1 is signal N

  friend bool operator==(const ProcessState&, const ProcessState&) = default;
};

// The arguments of the execve by which the stub asks for its control socket. No address has these values.
inline constexpr unsigned long kHelloPath = 0xffff'8000'686f'6c64, kHelloArgv = 0xffff'8000'6661'7374,
                               kHelloEnvp = 0xffff'8000'7374'7562;

// The exit code of a stub that has no supervisor, and so has no order. Programs that run a command in their own place,
// such as env and timeout, exit with this code when they fail themselves.
inline constexpr int kNoSupervisor = 125;

// An order of the supervisor. The first order is kRun, kRefuse or kStandIn, and decides what the stub is for.
enum class StubOrderKind : int {
  // Execute the program whose Image is attached as a memory file, exactly as it was judged. While it waits for this
  // order and until it executes the program, the stub cannot be inspected or changed by other processes inside. A
  // program that cannot be executed ends the stub with kCannotExecute or kNotFound, after a line on standard error.
  kRun,
  // Write `size` bytes of text, which follow in the packet, to standard error, and exit with 1.
  kRefuse,
  // Stand in for a command outside: catch signals, become inspectable, so that the supervisor can take the descriptors,
  // and send kReady. The orders below follow.
  kStandIn,
  // Write `size` bytes of text, of which there may be none, to standard error, and exit with the code `value`.
  kExit,
  kDie,  // die by the signal `value`, without a core file
  // The command outside was stopped by the signal `value`: stop likewise. A stub that cannot stop, because its process
  // group is orphaned, has the command outside continued. A stub that has sent more SIGCONTs than `continue_count` does
  // nothing: the next of them ends the stop that the order is about.
  kStop,
};

struct StubOrder {
  StubOrderKind kind;
  int value;
  unsigned size;
  unsigned continue_count;  // the SIGCONTs from the stub that the command outside had got before it stopped
};

// The text that may follow an order.
inline constexpr unsigned kMaxTextBytes = 4096;

enum class StubMessageKind : int {
  kReady,   // comes before every kSignal; `state` is the state that the stub was executed with
  kSignal,  // the stub got the signal `value`, which the command outside has to get
};

struct StubMessage {
  StubMessageKind kind;
  int value;
  ProcessState state;
};

// A program with its arguments and its environment in a memory file: this header, then the path, the arguments and the
// variables, each ended by a NUL.
struct Image {
  unsigned argument_count, variable_count;
  unsigned long bytes;  // behind the header
};

// The descriptors that the starter is executed with: its own program, a memory file with its order, the working
// directory of the command, and a socket. The starter closes the socket when its signals are as the command wants them.
inline constexpr int kStarterProgramFd = 5, kStarterOrderFd = 6, kStarterDirectoryFd = 7, kStarterSocketFd = 8;

// The limits of a resource. The values are those of the kernel's struct rlimit64.
struct ResourceLimit {
  unsigned long soft, hard;
};

inline constexpr int kMaxLimits = 16;

// The order of the starter. Behind it stand `fd_count` ints, the numbers that the command's descriptors get, and then
// the strings of the image. The descriptors themselves wait in the socket, in the order of their numbers, at most
// kMaxStarterFds in each packet of one byte.
struct StarterOrder {
  ProcessState state;
  unsigned fd_count;
  unsigned limit_count;              // 0: the starter keeps its own limits
  ResourceLimit limits[kMaxLimits];  // by their RLIMIT_ numbers; a limit above the starter's own is cut down to it
  Image image;
};

inline constexpr int kMaxStarterFds = 250;

}  // namespace holdfast::escalate
