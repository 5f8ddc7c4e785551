// The protocols of the two small programs by which an execve is redirected. There are no libc types, because both
// programs are freestanding.
//
// The *stub* (apps/exec_stub) stands in the sandbox in the place of a command: the supervisor turns the pending execve
// into an execution of the stub, so that a parent which waits for the execve goes on. The stub asks for its control
// socket by an execve with the three numbers below, which the supervisor answers with a descriptor. Then it receives
// one order, and sends a message for each signal that it gets. All messages are packets of a SOCK_SEQPACKET pair.
//
// The *starter* (apps/exec_starter) runs outside of the sandbox, under a keeper. It receives the descriptors and the
// state that the stub's process had, takes them over, and executes the command in its own place.
#pragma once

namespace holdfast::escalate {

// The arguments of the execve by which the stub asks for its control socket. No address has these values.
inline constexpr unsigned long kHelloPath = 0xffff'8000'686f'6c64, kHelloArgv = 0xffff'8000'6661'7374,
                               kHelloEnvp = 0xffff'8000'7374'7562;

// An order of the supervisor. The first order decides what the stub is for.
enum class StubOrderKind : int {
  // Execute the command whose Image is attached as a memory file, exactly as it was judged. While it waits for this
  // order and until it executes the command, the stub cannot be inspected or changed by other processes inside.
  kRun,
  // Write `size` bytes of text, which follow in the packet, to standard error, and exit with 1.
  kRefuse,
  // Stand in for a command outside: become inspectable, so that the supervisor can take the descriptors, catch signals
  // and send kReady. One of the orders below follows.
  kStandIn,
  kExit,  // exit with the code `value`
  kDie,   // die by the signal `value`, without a core file
  kStop,  // the command outside was stopped by the signal `value`: stop likewise
};

struct StubOrder {
  StubOrderKind kind;
  int value;
  unsigned size;
};

inline constexpr unsigned kMaxRefusalBytes = 4096;

enum class StubMessageKind : int {
  kReady,
  kSignal,  // the stub got the signal `value`, which the command outside has to get
};

struct StubMessage {
  StubMessageKind kind;
  int value;
};

// A program with its arguments and its environment in a memory file: this header, then the path, the arguments and the
// variables, each ended by a NUL.
struct Image {
  unsigned argument_count, variable_count;
  unsigned long bytes;  // behind the header
};

}  // namespace holdfast::escalate
