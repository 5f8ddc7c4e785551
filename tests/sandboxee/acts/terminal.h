// Terminal is a terminal of the act's own.
#pragma once

#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include <csignal>

#include "sandboxee.h"

class Terminal {
 public:
  Terminal() : master_(::posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC)) {
    ::signal(SIGHUP, SIG_IGN);  // the kernel sends it when the terminal closes
    if (master_ < 0 || ::grantpt(master_) < 0 || ::unlockpt(master_) < 0) GiveUp("posix_openpt");
    ::setsid();  // makes it the controlling terminal; fails when the act leads a session already, which is as good
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
