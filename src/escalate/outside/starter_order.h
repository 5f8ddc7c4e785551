// The order of the starter as the bytes that it reads (escalate/stub/protocol.h).
#pragma once

#include <string>

#include "base/result.h"
#include "escalate/outside/outside_order.h"

namespace holdfast::escalate {

// The descriptors of the order are sorted by their numbers. Fails if a text has a NUL, which would end it early and
// make its rest another text.
Result<std::string> EncodeStarterOrder(const OutsideOrder& order);

}  // namespace holdfast::escalate
