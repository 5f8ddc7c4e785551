// The clock by which file systems set change times. It moves on in ticks of some milliseconds.
#pragma once

#include <ctime>

namespace holdfast::sandbox {

inline timespec FileClockTime() {
  timespec now{};
  ::clock_gettime(CLOCK_REALTIME_COARSE, &now);
  return now;
}

// Waits until the clock has moved on, so that the next change gets a change time of its own.
inline void WaitForTick() {
  const timespec before = FileClockTime();
  timespec now = before;
  while (now.tv_sec == before.tv_sec && now.tv_nsec == before.tv_nsec) now = FileClockTime();
}

}  // namespace holdfast::sandbox
