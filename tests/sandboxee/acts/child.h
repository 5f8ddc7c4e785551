// Child is a child process that waits until it is killed at the end of its parent's act.
#pragma once

#include <sys/types.h>
#include <unistd.h>

#include <csignal>

#include "sandboxee.h"

class Child {
 public:
  Child() : pid_(::fork()) {
    if (pid_ < 0) GiveUp("fork");
    while (pid_ == 0) ::pause();
  }
  ~Child() { ::kill(pid_, SIGKILL); }
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;

  pid_t pid() const { return pid_; }

 private:
  const pid_t pid_;
};
