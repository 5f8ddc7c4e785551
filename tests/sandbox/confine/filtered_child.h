// Tests try an act in a child process of its own, under a filter or without one.
#pragma once

#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <functional>
#include <optional>

#include <gtest/gtest.h>

#include "sandbox/confine/seccomp_filter.h"

namespace holdfast::sandbox {

inline constexpr std::optional<Filter> kNoFilter;

inline int ErrnoOf(long result) { return result < 0 ? errno : 0; }

// The function is noexcept, because an exception must not lead the child back into the test.
[[noreturn]] inline void RunFiltered(std::optional<Filter> filter, const std::function<int()>& act) noexcept {
  if (filter && !InstallFilter(MakeFilter(*filter))) ::_exit(255);
  ::_exit(act());
}

// Returns what `act` returns in a child, an errno or 0; or 128 + N, as a shell has it, when signal N has killed the
// child.
inline int InChild(std::optional<Filter> filter, const std::function<int()>& act) {
  const pid_t child = ::fork();
  if (child == 0) RunFiltered(filter, act);
  int status = 0;
  EXPECT_EQ(::waitpid(child, &status, 0), child);
  return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

}  // namespace holdfast::sandbox
