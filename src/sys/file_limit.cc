#include "sys/file_limit.h"

#include <algorithm>

#include "base/mutex.h"

namespace holdfast::sys {
namespace {

constexpr rlim_t kReservedFds = 512;
constexpr rlim_t kFdsBeyondHelpers = 512, kFdsBeyondCommands = 512;

// Returns the limit of commands below a helper's limit.
rlimit BelowHelper(const rlimit& helper) {
  const rlim_t hard = helper.rlim_max - std::min(kFdsBeyondCommands, helper.rlim_max / 3);
  return {std::min(helper.rlim_cur, hard), hard};
}

Mutex& ReserveMutex() {
  static Mutex mutex;
  return mutex;
}

}  // namespace

rlim_t UsualFileLimit(rlim_t hard_limit) { return hard_limit - std::min(kReservedFds, hard_limit / 4); }

rlimit FileLimitOfHelpers(const rlimit& own) {
  const rlim_t usual = UsualFileLimit(own.rlim_max);
  const rlim_t hard = usual - std::min(kFdsBeyondHelpers, usual / 4);
  return {std::min(own.rlim_cur, hard), hard};
}

rlimit FileLimitOfCommands(const rlimit& own) { return BelowHelper(FileLimitOfHelpers(own)); }

Result<> LowerFileLimit() {
  rlimit limit;
  if (::getrlimit(RLIMIT_NOFILE, &limit) < 0) return FailErrno("getrlimit", "NOFILE");
  limit = BelowHelper(limit);
  if (::setrlimit(RLIMIT_NOFILE, &limit) < 0) return FailErrno("setrlimit", "NOFILE");
  return {};
}

Result<rlimit> RaiseFileLimit() {
  rlimit before;
  if (::getrlimit(RLIMIT_NOFILE, &before) < 0) return FailErrno("getrlimit", "NOFILE");
  const rlimit raised{UsualFileLimit(before.rlim_max), before.rlim_max};
  if (::setrlimit(RLIMIT_NOFILE, &raised) < 0) return FailErrno("setrlimit", "NOFILE");
  return before;
}

// Neither call fails: the soft limit stays within the hard one.
FdReserve::FdReserve() __attribute__((no_thread_safety_analysis)) {
  ReserveMutex().Lock();
  (void)::getrlimit(RLIMIT_NOFILE, &usual_);
  const rlimit all{usual_.rlim_max, usual_.rlim_max};
  (void)::setrlimit(RLIMIT_NOFILE, &all);
}

FdReserve::~FdReserve() __attribute__((no_thread_safety_analysis)) {
  (void)::setrlimit(RLIMIT_NOFILE, &usual_);
  ReserveMutex().Unlock();
}

}  // namespace holdfast::sys
