#include "process/waiters.h"

namespace holdfast::process {

Waiters::Token Waiters::Add(std::function<void()> on_event) {
  callbacks_.emplace(next_, std::make_shared<std::function<void()>>(std::move(on_event)));
  return next_++;
}

// Walks by token, because a callback may add or remove entries. Those added meanwhile wait for the next event.
void Waiters::Notify() {
  const Token end = next_;
  for (auto it = callbacks_.begin(); it != callbacks_.end() && it->first < end;) {
    Token token = it->first;
    std::shared_ptr<std::function<void()>> callback = it->second;
    (*callback)();
    it = callbacks_.upper_bound(token);
  }
}

}  // namespace holdfast::process
