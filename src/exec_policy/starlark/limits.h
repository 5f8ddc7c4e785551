// The limits of one run. A program that reaches one of them stops with a diagnostic.
#pragma once

#include <cstddef>

namespace holdfast::exec_policy {

struct Limits {
  size_t text_bytes = size_t{4} << 20;
  // A step is an expression, a statement or one round of a loop; work on a long string or list costs steps as well.
  size_t steps = 10'000'000;
  // The memory that all values of the run take, including those that the program has no use for any more.
  size_t memory_bytes = size_t{64} << 20;
  // The expressions and statements that are being evaluated inside one another; a call of a function takes about four.
  int depth = 1000;
};

}  // namespace holdfast::exec_policy
