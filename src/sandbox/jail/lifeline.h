// The lifeline is a socket between the two stages. The inner stage announces itself on it, and the kernel adds the
// number of the process. The inner stage starts the command only after the outer stage has answered. Afterwards the
// outer stage sends the numbers of signals that the command is to get. The outer stage alone holds the other end: when
// the outer stage is gone, for whatever reason, the inner stage ends, and with it everything in its pid namespace.
//
// Signals do not carry these numbers. An ordinary signal that is pending already is not sent again, and the kernel
// limits the pending real-time signals of a user, which any command of the user can use up.
//
// A parent-death signal would not do: bubblewrap's processes must not die with their parent, because a bubblewrap that
// is killed during the set-up leaves a child behind that waits for it for ever.
#pragma once

#include <optional>

#include "base/owned_fd.h"
#include "base/result.h"

namespace holdfast::sandbox {

struct LifelineEnds {
  OwnedFd outer;  // close-on-exec: a copy elsewhere would keep the inner stage alive
  OwnedFd inner;  // not close-on-exec, because the inner stage inherits it
};

Result<LifelineEnds> MakeLifeline();

// The outer stage waits for the announcement of the inner stage and gets a pidfd of it, or a closed descriptor when no
// process is left that could announce itself.
OwnedFd ReceiveAnnouncement(int outer);

// The outer stage lets the inner stage start the command.
void SendGo(int outer);

// The outer stage asks for a signal to be passed on to the command. It has let the command start before. Returns false
// when the lifeline is full, because the inner stage does not read.
bool SendSignalFor(int outer, int signal);

// Lifeline is the end of the inner stage. It does not own the descriptor.
class Lifeline {
 public:
  explicit Lifeline(int fd) : fd_(fd) {}

  // Does nothing if the outer stage has answered already, because it knows the inner stage: then it need not wake up.
  void Announce() const;
  // Waits until the outer stage lets the command start. Returns false when the lifeline has been cut instead.
  bool AwaitGo() const;
  bool IsCut() const;
  // Returns the next signal that is to be passed on, and nothing when the outer stage has sent none.
  std::optional<int> ReceiveSignal() const;

  int fd() const { return fd_; }

 private:
  const int fd_;
};

}  // namespace holdfast::sandbox
