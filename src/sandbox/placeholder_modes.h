// The modes of what mount_planner.cc lays over a missing path that is not to be made: how a file helper tells it from a
// directory or file of the user's.
#pragma once

#include <cstdint>

namespace holdfast::sandbox {

inline constexpr uint32_t kCoverDirectoryMode = 0555;
inline constexpr uint32_t kCoverFileMode = 0444;

}  // namespace holdfast::sandbox
