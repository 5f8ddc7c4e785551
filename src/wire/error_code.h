// The one place where an ErrorKind becomes a JSON-RPC code, and one again.
#pragma once

#include <cstdint>

#include "base/result.h"

namespace holdfast::wire {

int ErrorCode(ErrorKind kind);

// A kind that has this code.
ErrorKind KindOf(int64_t code);

}  // namespace holdfast::wire
