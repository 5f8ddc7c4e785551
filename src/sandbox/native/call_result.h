// A CallResult is the result of system calls whose caller may have to know the errno: it is a value or a FailedCall. A
// caller to which the errno means nothing converts the failure to an Error.
#pragma once

#include <cerrno>
#include <expected>
#include <string>
#include <utility>

#include "base/result.h"

namespace holdfast::sandbox {

struct FailedCall {
  const char* call;
  std::string object;
  int errno_value;

  // The conversion is implicit, so that TRY works in a function that returns a Result.
  operator Error() const { return ErrnoError(call, object, errno_value); }  // NOLINT(google-explicit-constructor)
};

template <typename T = void>
using CallResult = std::expected<T, FailedCall>;

// Returns the failure of the call that has just set errno.
inline std::unexpected<FailedCall> FailCall(const char* call, std::string object, int errno_value = errno) {
  return std::unexpected(FailedCall{call, std::move(object), errno_value});
}

}  // namespace holdfast::sandbox
