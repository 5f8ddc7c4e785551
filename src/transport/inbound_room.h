// InboundRoom is the memory for the message that a connection is receiving. A short message needs no permission; a long
// one draws from the budget for everything that the server holds. While a connection waits for room, its socket is not
// read, which delays its peer and no other.
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

  // If the budget is gone, there is room for everything. `on_reclaim` must end the connection: the budget calls it when
  // it needs the memory for others.
  InboundRoom(std::weak_ptr<loop::ByteBudget> budget, loop::Callback on_reclaim)
      : budget_(std::move(budget)), on_reclaim_(std::move(on_reclaim)) {}

  // Returns whether the message may occupy `bytes`. If not, `on_room` runs later: with success when there is room, or
  // with the reason why there will be none.
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

  // Gives the memory of the message back to the budget.
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
  loop::Callback on_reclaim_;  // moved into the permit at its first use
  loop::ByteBudget::Permit permit_;
  bool waiting_ = false;
};

}  // namespace holdfast::transport
