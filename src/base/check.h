// CHECK finds bugs of this program. It prints the place and the condition that does not hold, then aborts. It is never
// used for what depends on input, on the environment or on a peer: these failures are a Result.
#pragma once

namespace holdfast {

[[noreturn]] void CheckFailed(const char* file, int line, const char* condition);

}  // namespace holdfast

#define CHECK(condition) \
  (static_cast<bool>(condition) ? static_cast<void>(0) : ::holdfast::CheckFailed(__FILE__, __LINE__, #condition))
