#include "client/event_order.h"

#include <algorithm>
#include <limits>
#include <utility>

namespace holdfast::client {
namespace {

uint64_t FirstSeq(const ProcessEvent& event) {
  if (const auto* output = std::get_if<Output>(&event)) return output->seq;
  if (const auto* exited = std::get_if<Exited>(&event)) return exited->seq;
  if (const auto* closed = std::get_if<Closed>(&event)) return closed->seq;
  if (const auto* lost = std::get_if<Lost>(&event)) return lost->from_seq;
  return 0;
}

uint64_t LastSeq(const ProcessEvent& event) {
  if (const auto* lost = std::get_if<Lost>(&event)) return lost->to_seq;
  return FirstSeq(event);
}

// No process reaches this number. It is refused, because the number behind it cannot be represented.
constexpr uint64_t kImpossibleSeq = std::numeric_limits<uint64_t>::max();

}  // namespace

EventOrder::Place EventOrder::PlaceOf(uint64_t seq) const {
  if (seq <= published_) return Place::kKnown;
  if (seq == published_ + 1 && held_.empty()) return Place::kNext;
  auto it = held_.upper_bound(seq);
  if (it != held_.begin() && LastSeq(std::prev(it)->second) >= seq) return Place::kKnown;
  return seq == published_ + 1 ? Place::kNext : Place::kEarly;
}

void EventOrder::Hold(ProcessEvent event) {
  const uint64_t seq = FirstSeq(event);
  if (seq == kImpossibleSeq || PlaceOf(seq) == Place::kKnown) return;
  if (std::holds_alternative<Exited>(event)) exit_known_ = true;
  held_bytes_ += OutputBytes(event);
  held_.emplace(seq, std::move(event));
}

std::vector<Lost> EventOrder::MissingBefore(uint64_t end) const {
  std::vector<Lost> missing;
  uint64_t seq = published_ + 1;
  for (const auto& [first, event] : held_) {
    if (seq >= end) break;
    if (first > seq) missing.push_back({seq, std::min(first, end) - 1});
    seq = LastSeq(event) + 1;
  }
  if (seq < end) missing.push_back({seq, end - 1});
  return missing;
}

void EventOrder::Skip(uint64_t from_seq, uint64_t to_seq) {
  for (const Lost& range : MissingBefore(std::min(to_seq, kImpossibleSeq - 1) + 1)) {
    const uint64_t first = std::max(range.from_seq, from_seq);
    if (first > range.to_seq) continue;
    auto next = held_.lower_bound(first);
    auto* before = next == held_.begin() ? nullptr : std::get_if<Lost>(&std::prev(next)->second);
    if (before != nullptr && before->to_seq + 1 == first) {
      before->to_seq = range.to_seq;
    } else {
      held_.emplace(first, Lost{first, range.to_seq});
    }
  }
}

void EventOrder::SkipToHeld() {
  if (!held_.empty()) Skip(published_ + 1, held_.begin()->first - 1);
}

// The server drops its oldest output first. So behind the oldest output that it has, at most one number is missing, and
// that is the exit's. If none is missing there, the exit is among the dropped events, and counts as the last of them.
void EventOrder::Settle(RetainedOutput retained) {
  for (Output& chunk : retained.chunks) Hold(std::move(chunk));
  const uint64_t end = std::max<uint64_t>(retained.next_seq, 1);
  if (retained.closed) Hold(Closed{end - 1});
  const std::vector<Lost> missing = MissingBefore(end);
  if (missing.empty()) return;
  if (retained.exited && !exit_known_) {
    Hold(Exited{.seq = missing.back().to_seq,
                .exit_code = retained.exit_code,
                .sandbox_denied = retained.sandbox_denied,
                .end = retained.end});
  }
  Skip(missing.front().from_seq, end - 1);
}

std::optional<ProcessEvent> EventOrder::Next() {
  auto first = held_.begin();
  if (first == held_.end() || first->first != published_ + 1) return std::nullopt;
  ProcessEvent event = std::move(first->second);
  held_.erase(first);
  held_bytes_ -= OutputBytes(event);
  published_ = LastSeq(event);
  return event;
}

}  // namespace holdfast::client
