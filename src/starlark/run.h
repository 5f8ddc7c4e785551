// The interpreter of the Starlark subset that rules files are written in. A program can compute and call host
// functions, and nothing else: it has no I/O, no clock and no randomness, and its time and memory are limited.
#pragma once

#include <expected>
#include <span>

#include "starlark/budget.h"
#include "starlark/diagnostic.h"
#include "starlark/host_function.h"

namespace holdfast::starlark {

// Runs the whole text, or stops at the first mistake. A mistake that can be seen without running, such as a name that
// is defined nowhere, is found before the first statement runs.
std::expected<void, Diagnostic> Run(const Source& source, std::span<const HostFunction> host, Budget& budget);

// Does the same with a budget for this run alone.
std::expected<void, Diagnostic> Run(const Source& source, std::span<const HostFunction> host,
                                    const Limits& limits = {});

}  // namespace holdfast::starlark
