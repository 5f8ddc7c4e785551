#include "exec_server/byte_budget.h"

#include <algorithm>
#include <utility>

namespace holdfast::exec_server {

void ByteBudget::Take(size_t bytes, Grant grant) {
  waiting_.push_back({std::min(bytes, total_), std::move(grant)});
  GrantWaiting();
}

void ByteBudget::GiveBack(size_t bytes) {
  left_ += bytes;
  GrantWaiting();
}

// A grant may give its lease back at once, which ends up here again: the outermost call does the work.
void ByteBudget::GrantWaiting() {
  if (std::exchange(granting_, true)) return;
  while (!waiting_.empty() && waiting_.front().bytes <= left_) {
    Waiting next = std::move(waiting_.front());
    waiting_.pop_front();
    left_ -= next.bytes;
    // A pointer to nothing, for the sake of its deleter.
    next.grant(Lease(nullptr, [budget = std::weak_ptr(self_), bytes = next.bytes](void*) {
      ByteBudget* self = budget.expired() ? nullptr : *budget.lock();
      if (self != nullptr) self->GiveBack(bytes);
    }));
  }
  granting_ = false;
}

}  // namespace holdfast::exec_server
