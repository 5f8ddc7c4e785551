// The room for the message that a connection is receiving. Short messages have it without asking; a long one draws from
// the budget of all that the server holds. A connection that must wait for room is not read meanwhile, which holds up
// its peer and nobody else.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <utility>

#include "base/result.h"
#include "loop/byte_budget.h"

namespace holdfast::transport {

class InboundRoom {
 public:
  using OnRoom = std::move_only_function<void(const Result<>&)>;

  static constexpr size_t kFreeBytes = 128u << 10;

  // Without a budget there is room for everything. `on_reclaim` is to end the connection.
  InboundRoom(std::weak_ptr<loop::ByteBudget> budget, loop::Callback on_reclaim)
      : budget_(std::move(budget)), on_reclaim_(std::move(on_reclaim)) {}

  // Whether the message may take up `bytes`. If not, `on_room` runs when it may, or with the reason why it never will.
  bool Ask(size_t bytes, OnRoom on_room) {
    if (bytes <= kFreeBytes) return true;
    if (on_reclaim_) Open();
    if (permit_.TryResize(bytes)) return true;
    waiting_ = true;
    permit_.Await(bytes, [this, on_room = std::move(on_room)](const Result<>& outcome) mutable {
      waiting_ = false;
      on_room(outcome);
    });
    return false;
  }

  // The memory of the message is free again.
  void Release() {
    if (permit_.bytes() > 0) permit_.Resize(0);
  }

  bool waiting() const { return waiting_; }

 private:
  void Open() {
    auto on_reclaim = std::exchange(on_reclaim_, nullptr);
    if (const auto budget = budget_.lock()) permit_ = budget->Open(std::move(on_reclaim));
  }

  const std::weak_ptr<loop::ByteBudget> budget_;
  loop::Callback on_reclaim_;  // until the permit has it
  loop::ByteBudget::Permit permit_;
  bool waiting_ = false;
};

}  // namespace holdfast::transport
