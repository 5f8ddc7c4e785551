#include "base/check.h"

#include <cstdio>
#include <cstdlib>

namespace holdfast {

void CheckFailed(const char* file, int line, const char* condition) {
  // The program aborts whether or not the message could be printed.
  (void)std::fprintf(stderr, "%s:%d: check failed: %s\n", file, line, condition);
  std::abort();
}

}  // namespace holdfast
