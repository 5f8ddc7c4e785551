// The socket between the two stages. The inner stage says on it that it is there, and the kernel adds which process
// that is; it starts the command only when it is told to. The outer stage alone holds the other end: when it is gone,
// however that came about, the inner stage ends, and with it everything in its pid namespace.
//
// No parent-death signal does that: bubblewrap's processes must not die with who started them, because one that is
// killed during the set-up leaves another behind that waits for it for ever.
#pragma once

#include "base/owned_fd.h"
#include "base/result.h"

namespace holdfast::sandbox {

struct LifelineEnds {
  OwnedFd outer;  // close-on-exec: a copy elsewhere would keep the inner stage alive
  OwnedFd inner;  // inherited
};

Result<LifelineEnds> MakeLifeline();

// Of the outer stage. What the inner stage says, as its pidfd; closed when there is nobody left to say anything.
OwnedFd TakePresence(int outer);
void SayGo(int outer);

// Of the inner stage, which borrows its end.
class Lifeline {
 public:
  explicit Lifeline(int fd) : fd_(fd) {}

  // SIGIO, which is to be blocked, comes from then on when the line may have been cut. Not passed to the command.
  Result<> Arm() const;
  void SayHere() const;
  // False when it has been cut instead.
  bool AwaitGo() const;
  bool IsCut() const;

 private:
  const int fd_;
};

}  // namespace holdfast::sandbox
