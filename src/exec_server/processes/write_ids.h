// WriteIds remembers the ids of the last accepted writes to a process. A client that reconnects may send a write again,
// and the process must not get it twice.
#pragma once

#include <cstddef>
#include <deque>
#include <string>
#include <unordered_set>

namespace holdfast::exec_server {

class WriteIds {
 public:
  static constexpr size_t kRemembered = 4096;

  // Returns false if the id is remembered already.
  bool Remember(const std::string& id);
  void Forget(const std::string& id);

 private:
  std::unordered_set<std::string> known_;
  std::deque<std::string> order_;
};

}  // namespace holdfast::exec_server
