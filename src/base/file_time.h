// The times of files, in milliseconds since 1970 and as the system calls have them.
#pragma once

#include <cstdint>
#include <ctime>
#include <limits>

namespace holdfast {

constexpr timespec FileTime(int64_t ms) {
  const int64_t rest_ms = (ms % 1000 + 1000) % 1000;
  return {.tv_sec = ms / 1000 - (ms % 1000 < 0 ? 1 : 0), .tv_nsec = rest_ms * 1'000'000};
}

// A file system may store times that are too far away for milliseconds. Such a time becomes the farthest one.
constexpr int64_t FileTimeMs(const timespec& time) {
  constexpr int64_t kMaxSeconds = std::numeric_limits<int64_t>::max() / 1000 - 1;
  if (time.tv_sec > kMaxSeconds) return std::numeric_limits<int64_t>::max();
  if (time.tv_sec < -kMaxSeconds) return std::numeric_limits<int64_t>::min();
  return time.tv_sec * 1000 + time.tv_nsec / 1'000'000;
}

}  // namespace holdfast
