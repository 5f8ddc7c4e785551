// The budget of a set of rules: the steps and the memory that are left of its limits. All files of the set share it.
// The values of the programs are charged to it, and so are the definitions that host functions keep and the work on
// them.
#pragma once

#include <cstddef>

#include "base/result.h"

namespace holdfast::starlark {

// The limits of a set of rules. A program that reaches one of them stops with a diagnostic. Together they bound the
// time of a load to about two seconds, and its memory to some 100 MB.
struct Limits {
  size_t text_bytes = size_t{2} << 20;  // of each file; a syntax tree takes some forty times as much
  // A step is an expression, a statement or one round of a loop. Work on a long string or list costs steps as well, and
  // so does the work of host functions. All files share the steps and the memory.
  size_t steps = 10'000'000;
  // The memory that all values take, including those that the program has no use for any more, and all definitions.
  size_t memory_bytes = size_t{64} << 20;
  // The expressions and statements that are being evaluated inside one another; a call of a function takes about four.
  int depth = 1000;
};

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

}  // namespace holdfast::starlark
