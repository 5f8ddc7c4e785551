// Acts tried in a child of their own, under a filter or without one.
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

// noexcept: an exception must not take the child back into the test.
[[noreturn]] inline void RunFiltered(std::optional<Filter> filter, const std::function<int()>& act) noexcept {
  if (filter && !InstallFilter(MakeFilter(*filter))) ::_exit(255);
  ::_exit(act());
}

// What `act` returns, an errno or 0; after a death by signal 128 + N, as a shell tells it.
inline int InChild(std::optional<Filter> filter, const std::function<int()>& act) {
  const pid_t child = ::fork();
  if (child == 0) RunFiltered(filter, act);
  int status = 0;
  EXPECT_EQ(::waitpid(child, &status, 0), child);
  return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

}  // namespace holdfast::sandbox
