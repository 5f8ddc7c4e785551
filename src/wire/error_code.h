// These functions translate between ErrorKind and JSON-RPC error codes. No other code knows the codes.
#pragma once

#include <cstdint>

#include "base/result.h"

namespace holdfast::wire {

int ErrorCode(ErrorKind kind);

// Returns a kind that has this code, or kSystem if the code is not known. Several kinds share a code.
ErrorKind KindOf(int64_t code);

}  // namespace holdfast::wire
