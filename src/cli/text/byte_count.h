// Numbers of bytes as people read them.
#pragma once

#include <cstdint>
#include <string>

namespace holdfast::cli {

// Returns at most three digits before the unit: "0 B", "1.5 KiB", "100 MiB".
std::string ByteCountText(uint64_t bytes);

}  // namespace holdfast::cli
