// The lifeline is a socket between the two stages. The inner stage announces itself on it, and the kernel adds the
// number of the process. The inner stage starts the command only after the outer stage has answered. The outer stage
// alone holds the other end: when the outer stage is gone, for whatever reason, the inner stage ends, and with it
// everything in its pid namespace.
//
// A parent-death signal would not do: bubblewrap's processes must not die with their parent, because a bubblewrap that
// is killed during the set-up leaves a child behind that waits for it for ever.
#pragma once

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

// Lifeline is the end of the inner stage. It does not own the descriptor.
class Lifeline {
 public:
  explicit Lifeline(int fd) : fd_(fd) {}

  // Makes the kernel send SIGIO to this process when the lifeline may have been cut. SIGIO must be blocked. The
  // descriptor becomes close-on-exec, so that the command does not get it.
  Result<> Arm() const;
  // Does nothing if the outer stage has answered already, because it knows the inner stage: then it need not wake up.
  void Announce() const;
  // Waits until the outer stage lets the command start. Returns false when the lifeline has been cut instead.
  bool AwaitGo() const;
  bool IsCut() const;

 private:
  const int fd_;
};

}  // namespace holdfast::sandbox
