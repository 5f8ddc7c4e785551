// The lifeline is a socket between the two stages. The inner stage announces itself on it, and the kernel adds the
// number of the process. The inner stage starts the command only after the outer stage has answered, and tells at last
// how the command has ended. The outer stage alone holds the other end: when the outer stage is gone, for whatever
// reason, the inner stage ends, and with it everything in its pid namespace.
//
// A parent-death signal would not do: bubblewrap's processes must not die with their parent, because a bubblewrap that
// is killed during the set-up leaves a child behind that waits for it for ever.
#pragma once

#include <sys/types.h>

#include "base/owned_fd.h"
#include "base/result.h"

namespace holdfast::sandbox {

struct LifelineEnds {
  OwnedFd outer;  // close-on-exec: a copy elsewhere would keep the inner stage alive
  OwnedFd inner;  // not close-on-exec, because the inner stage inherits it
};

Result<LifelineEnds> MakeLifeline();

// What the outer stage hears from the inner one.
struct InnerWord {
  enum class Kind {
    kNone,   // no process is left that could say anything
    kHere,   // the inner stage waits for the answer
    kEnded,  // the command has ended, and no process but the inner stage itself is alive
  };
  Kind kind = Kind::kNone;
  pid_t sender = 0;     // the inner stage, which says kHere
  int exit_status = 0;  // of the command that has ended
};

InnerWord ReceiveFromInner(int outer);

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
  // Called when no process but this one is alive inside.
  void TellEnd(int exit_status) const;

 private:
  const int fd_;
};

}  // namespace holdfast::sandbox
