// A JudgementLog counts what a supervisor judges, and what it does then. A test sees by it that a supervisor was at
// work: a command that runs without one does the same as under one that lets everything run.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <map>
#include <string>
#include <vector>

#include "base/mutex.h"
#include "exec_policy/judge.h"

namespace holdfast::escalate {

class JudgementLog {
 public:
  // Runs on the supervisor's thread, for each judgement.
  void Add(const exec_policy::ExecAttempt& attempt);

  // The judgements of programs with this base name.
  size_t of(const std::string& name) const;

  // The attempts that were judged twice: by their path, and again after a look at the file. A supervisor judges those
  // again that it does not let go on at once.
  size_t judged_twice() const;

  // The stubs that were told to execute a program. The supervisor writes the program into a memory file for each of
  // them, and writes nothing else as long as it asks nobody and starts nothing outside: the kernel counts the writes of
  // each thread. The thread of the supervisor must not have ended.
  size_t stubs_that_ran() const;

 private:
  mutable Mutex mutex_;
  std::map<std::string, size_t> by_name_ GUARDED_BY(mutex_);
  std::vector<std::string> last_ GUARDED_BY(mutex_);  // the attempt that was judged once; empty if there is none
  size_t judged_twice_ GUARDED_BY(mutex_) = 0;
  pid_t thread_ GUARDED_BY(mutex_) = 0;
};

// The last part of a path.
std::string BaseName(std::string_view path);

}  // namespace holdfast::escalate
