// These functions translate between ErrorKind and JSON-RPC error codes. No other code knows the codes. Several kinds
// share a code; some of those that clients have to tell apart have a name too, which travels in the error's `data`.
#pragma once

#include <cstdint>
#include <string_view>

#include "base/result.h"

namespace holdfast::wire {

int ErrorCode(ErrorKind kind);

// Returns the name of a kind as `data.kind` has it; empty if the code says enough.
std::string_view ErrorName(ErrorKind kind);

// Returns a kind that has this code, or kSystem if the code is not known. The kind is the one with this name, if one
// with this code has it.
ErrorKind KindOf(int64_t code, std::string_view name = {});

}  // namespace holdfast::wire
