// The interpreter of the Starlark subset that rules files are written in (docs/RULES.md). A program can compute and
// call host functions, and nothing else: it has no I/O, no clock and no randomness, and its time and memory are
// limited.
#pragma once

#include <cstddef>
#include <expected>
#include <span>

#include "exec_policy/starlark/diagnostic.h"
#include "exec_policy/starlark/host_function.h"

namespace holdfast::exec_policy {

struct Limits {
  size_t text_bytes = size_t{16} << 20;
  // A step is an expression, a statement or one round of a loop; work on a long string or list costs steps as well.
  size_t steps = 20'000'000;
  // The memory that all values of the run take, including those that the program has no use for any more.
  size_t memory_bytes = size_t{256} << 20;
  // The expressions and statements that are being evaluated inside one another; a call of a function takes about four.
  int depth = 1000;
};

// Runs the whole text, or stops at the first mistake. A mistake that can be seen without running, such as a name that
// is defined nowhere, is found before the first statement runs.
std::expected<void, Diagnostic> Run(const Source& source, std::span<const HostFunction> host,
                                    const Limits& limits = {});

}  // namespace holdfast::exec_policy
