#include "base/check.h"

#include <cstdio>
#include <cstdlib>

namespace holdfast {

void CheckFailed(const char* file, int line, const char* condition) {
  (void)std::fprintf(stderr, "%s:%d: check failed: %s\n", file, line, condition);  // the abort says the rest
  std::abort();
}

}  // namespace holdfast
