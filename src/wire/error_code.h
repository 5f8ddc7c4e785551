// The one place where an ErrorKind becomes a JSON-RPC code.
#pragma once

#include "base/result.h"

namespace holdfast::rpc {

int ErrorCode(ErrorKind kind);

}  // namespace holdfast::rpc
