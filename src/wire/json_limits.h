// The bounds of JSON that a peer may send: what is deeper or longer is refused before it costs anything.
#pragma once

#include <cstddef>

namespace holdfast::wire {

inline constexpr size_t kMaxJsonDepth = 128;
inline constexpr size_t kMaxJsonValues = 262'144;

}  // namespace holdfast::wire
