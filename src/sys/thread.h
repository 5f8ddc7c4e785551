// Threads that belong to nobody: each ends by itself, and owns what it uses.
#pragma once

#include <functional>

#include "base/result.h"

namespace holdfast::sys {

// Runs `main` on a detached thread on which no signal is handled. `name` has at most 15 bytes. The thread destroys
// `main` when it has run.
Result<> StartThread(const char* name, std::move_only_function<void()> main);

}  // namespace holdfast::sys
