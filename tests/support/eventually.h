// Eventually waits, with a deadline, for a condition that the test does not bring about itself.
#pragma once

#include <chrono>
#include <thread>

#include "support/test_socket.h"

namespace holdfast::support {

// Returns true as soon as `condition` does, and false if it still does not after `patience`.
template <typename Condition>
bool Eventually(Condition condition, std::chrono::milliseconds patience = kPatience) {
  const auto deadline = std::chrono::steady_clock::now() + patience;
  while (!condition()) {
    if (std::chrono::steady_clock::now() >= deadline) return condition();
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  return true;
}

}  // namespace holdfast::support
