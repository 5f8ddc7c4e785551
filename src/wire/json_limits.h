// The bounds of the JSON that a client may send. A message that exceeds them is refused before it costs much.
#pragma once

#include <cstddef>

namespace holdfast::wire {

inline constexpr size_t kMaxJsonDepth = 128;
inline constexpr size_t kMaxJsonValues = 262'144;

}  // namespace holdfast::wire
