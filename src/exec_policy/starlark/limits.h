// The limits of a set of rules. A program that reaches one of them stops with a diagnostic. Together they bound the
// time of a load to about two seconds, and its memory to some 100 MB.
#pragma once

#include <cstddef>

namespace holdfast::exec_policy {

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

}  // namespace holdfast::exec_policy
