#include "exec_server/processes/retention.h"

#include <algorithm>
#include <utility>

namespace holdfast::exec_server {

using namespace std::chrono_literals;

Retention::Retention(loop::EventLoop& loop, HeapTrim& heap, std::chrono::milliseconds period, size_t max_bytes)
    : heap_(heap),
      period_(period),
      max_bytes_(max_bytes),
      timer_(loop, [this] { ExpireDue(); }),
      permits_([this](uint64_t number) { Release(number); }) {}

void Retention::Keep(size_t bytes, loop::Callback expire) {
  kept_.push_back(
      {.number = next_number_++, .bytes = bytes, .expire = std::move(expire), .until = Clock::now() + period_});
  Count(bytes);
  if (!timer_.running()) timer_.Start(period_);
}

loop::Permit Retention::KeepWhileHeld(size_t bytes, loop::Callback expire) {
  const uint64_t number = next_number_++;
  held_.emplace(number, Kept{.number = number, .bytes = bytes, .expire = std::move(expire), .until = {}});
  Count(bytes);
  return permits_.Issue(number);
}

void Retention::Count(size_t bytes) {
  bytes_ += bytes;
  if (bytes_ > max_bytes_) timer_.Start(0ms);
}

void Retention::Release(uint64_t number) {
  const auto node = held_.extract(number);
  if (node.empty()) return;  // the entry has expired
  bytes_ -= node.mapped().bytes;
  heap_.Note(node.mapped().bytes);
}

void Retention::Expire(Kept kept) {
  bytes_ -= kept.bytes;
  heap_.Note(kept.bytes);
  kept.expire();
}

void Retention::ExpireOldest() {
  const bool held_is_older = kept_.empty() || (!held_.empty() && held_.begin()->first < kept_.front().number);
  if (held_is_older) return Expire(std::move(held_.extract(held_.begin()).mapped()));
  Kept oldest = std::move(kept_.front());
  kept_.pop_front();
  Expire(std::move(oldest));
}

void Retention::ExpireDue() {
  while (bytes_ > max_bytes_ && (!kept_.empty() || !held_.empty())) ExpireOldest();
  const Clock::time_point now = Clock::now();
  while (!kept_.empty() && kept_.front().until <= now) {
    Kept oldest = std::move(kept_.front());
    kept_.pop_front();
    Expire(std::move(oldest));
  }
  if (kept_.empty()) return kept_.shrink_to_fit();
  // The time is rounded up, so that the oldest entry is due when the timer fires. Entries that are due within the same
  // 10 ms share a wake-up.
  auto left = std::chrono::ceil<std::chrono::milliseconds>(kept_.front().until - now);
  timer_.Start(std::max(left, 10ms));
}

}  // namespace holdfast::exec_server
