// The budget of a set of rules: the steps and the memory that are left of its limits. All files of the set share it.
// The values of the programs are charged to it, and so are the definitions that host functions keep and the work on
// them.
#pragma once

#include <cstddef>

#include "base/result.h"
#include "exec_policy/starlark/limits.h"

namespace holdfast::exec_policy {

class Budget {
 public:
  explicit Budget(const Limits& limits)
      : limits_(limits), steps_left_(limits.steps), bytes_left_(limits.memory_bytes) {}
  Budget(const Budget&) = delete;
  Budget& operator=(const Budget&) = delete;

  const Limits& limits() const { return limits_; }
  size_t bytes_left() const { return bytes_left_; }

  // Counts steps before they are done.
  Result<> Spend(size_t steps) {
    if (steps > steps_left_) [[unlikely]]
      return OutOfSteps();
    steps_left_ -= steps;
    return {};
  }

  // Counts memory before it is allocated. It is never given back.
  Result<> Take(size_t bytes) {
    if (bytes > bytes_left_) [[unlikely]]
      return OutOfMemory();
    bytes_left_ -= bytes;
    return {};
  }

  static std::unexpected<Error> OutOfSteps();
  static std::unexpected<Error> OutOfMemory();

 private:
  const Limits limits_;
  size_t steps_left_, bytes_left_;
};

}  // namespace holdfast::exec_policy
