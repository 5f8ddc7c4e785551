// The ids of the last accepted writes of a process: a client that retries after a reconnect must not be heard twice.
#pragma once

#include <cstddef>
#include <deque>
#include <string>
#include <unordered_set>

namespace holdfast::exec_server {

class WriteIds {
 public:
  static constexpr size_t kRemembered = 4096;

  // False when the id is among the remembered ones.
  bool Remember(const std::string& id);
  void Forget(const std::string& id);

 private:
  std::unordered_set<std::string> known_;
  std::deque<std::string> order_;
};

}  // namespace holdfast::exec_server
