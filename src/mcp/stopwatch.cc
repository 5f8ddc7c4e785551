#include "mcp/stopwatch.h"

#include <algorithm>

#include "base/check.h"

namespace holdfast::mcp {

void Stopwatch::Pause(Clock::time_point now) {
  if (pauses_++ == 0) counted_ += now - resumed_;
}

void Stopwatch::Resume(Clock::time_point now) {
  CHECK(pauses_ > 0);
  if (--pauses_ == 0) resumed_ = now;
}

Stopwatch::Clock::duration Stopwatch::Elapsed(Clock::time_point now) const {
  return paused() ? counted_ : counted_ + (now - resumed_);
}

Stopwatch::Clock::duration Stopwatch::Left(Clock::time_point now) const {
  return std::max(Clock::duration(0), limit_ - Elapsed(now));
}

}  // namespace holdfast::mcp
