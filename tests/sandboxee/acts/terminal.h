// A terminal of the act's own.
#pragma once

#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include <csignal>

#include "sandboxee.h"

class Terminal {
 public:
  Terminal() : master_(::posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC)) {
    ::signal(SIGHUP, SIG_IGN);  // sent when it closes
    if (master_ < 0 || ::grantpt(master_) < 0 || ::unlockpt(master_) < 0) GiveUp("posix_openpt");
    ::setsid();  // so that it becomes the controlling one; an act that leads a session already keeps it
    user_end_ = ::open(::ptsname(master_), O_RDWR | O_CLOEXEC);
    if (user_end_ < 0) GiveUp("open of a terminal");
  }
  ~Terminal() {
    ::close(user_end_);
    ::close(master_);
  }
  Terminal(const Terminal&) = delete;
  Terminal& operator=(const Terminal&) = delete;

  int user_end() const { return user_end_; }

 private:
  const int master_;
  int user_end_;
};
