// CHECK is for bugs of our own, never for input, environment or peer: it prints where and what, then aborts.
#pragma once

namespace holdfast {

[[noreturn]] void CheckFailed(const char* file, int line, const char* condition);

}  // namespace holdfast

#define CHECK(condition) \
  (static_cast<bool>(condition) ? static_cast<void>(0) : ::holdfast::CheckFailed(__FILE__, __LINE__, #condition))
