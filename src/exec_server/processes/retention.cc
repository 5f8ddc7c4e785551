#include "exec_server/processes/retention.h"

#include <algorithm>

namespace holdfast::exec_server {

using namespace std::chrono_literals;

Retention::Retention(loop::EventLoop& loop, HeapTrim& heap, std::chrono::milliseconds period, size_t max_bytes)
    : heap_(heap), period_(period), max_bytes_(max_bytes), timer_(loop, [this] { ExpireDue(); }) {}

void Retention::Keep(size_t bytes, loop::Callback expire) {
  kept_.push_back({Clock::now() + period_, bytes, std::move(expire)});
  bytes_ += bytes;
  if (bytes_ > max_bytes_) {
    timer_.Start(0ms);
  } else if (!timer_.running()) {
    timer_.Start(period_);
  }
}

void Retention::ExpireDue() {
  const Clock::time_point now = Clock::now();
  while (!kept_.empty() && (kept_.front().until <= now || bytes_ > max_bytes_)) {
    Kept oldest = std::move(kept_.front());
    kept_.pop_front();
    bytes_ -= oldest.bytes;
    heap_.Note(oldest.bytes);
    oldest.expire();
  }
  if (kept_.empty()) return kept_.shrink_to_fit();
  // The time is rounded up, so that the oldest entry is due when the timer fires. Entries that are due within the same
  // 10 ms share a wake-up.
  auto left = std::chrono::ceil<std::chrono::milliseconds>(kept_.front().until - now);
  timer_.Start(std::max(left, 10ms));
}

}  // namespace holdfast::exec_server
