// Callbacks that run at every event of a process until they are removed. One may remove any, itself included.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>

namespace holdfast::process {

class Waiters {
 public:
  using Token = uint64_t;

  Token Add(std::function<void()> on_event);
  void Remove(Token token) { callbacks_.erase(token); }
  void RemoveAll() { callbacks_.clear(); }
  void Notify();
  bool empty() const { return callbacks_.empty(); }

 private:
  // Shared so that a callback may remove itself while it runs.
  std::map<Token, std::shared_ptr<std::function<void()>>> callbacks_;
  Token next_ = 1;
};

}  // namespace holdfast::process
