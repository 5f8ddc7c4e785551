#include "sys/file_limit.h"

namespace holdfast::sys {

Result<rlimit> RaiseFileLimit() {
  rlimit before;
  if (::getrlimit(RLIMIT_NOFILE, &before) < 0) return FailErrno("getrlimit", "NOFILE");
  rlimit raised{before.rlim_max, before.rlim_max};
  if (::setrlimit(RLIMIT_NOFILE, &raised) < 0) return FailErrno("setrlimit", "NOFILE");
  return before;
}

}  // namespace holdfast::sys
