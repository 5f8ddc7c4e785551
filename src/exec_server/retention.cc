#include "exec_server/retention.h"

#include <malloc.h>

#include <algorithm>

namespace holdfast::exec_server {
namespace {

using namespace std::chrono_literals;

constexpr size_t kTrimBytes = 1u << 20;  // less is not worth the walk through the heap

}  // namespace

Retention::Retention(loop::EventLoop& loop, std::chrono::milliseconds period, size_t max_bytes)
    : period_(period), max_bytes_(max_bytes), timer_(loop, [this] { ExpireDue(); }) {}

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
    untrimmed_ += oldest.bytes;
    oldest.expire();
  }
  if (kept_.empty()) {
    kept_.shrink_to_fit();
    if (untrimmed_ < kTrimBytes) return;
    ::malloc_trim(0);  // thousands of small records leave holes that malloc would keep
    untrimmed_ = 0;
    return;
  }
  // Rounded up, so that the front is due when the timer fires; one wake-up serves all of the same tick.
  auto left = std::chrono::ceil<std::chrono::milliseconds>(kept_.front().until - now);
  timer_.Start(std::max(left, 10ms));
}

}  // namespace holdfast::exec_server
