// Drives a loop from a test, which has no thread to spare for it.
#pragma once

#include <chrono>
#include <functional>

#include "loop/event_loop.h"
#include "support/test_socket.h"

namespace holdfast::support {

// Runs callbacks until `done` holds, asking after each one and, for what the loop does not see, every few milliseconds.
// False when it does not hold within `patience`.
bool RunUntil(loop::EventLoop& loop, const std::function<bool()>& done, std::chrono::milliseconds patience = kPatience);

// Runs what is ready at this moment, and what that makes ready, without waiting for anything.
void RunReady(loop::EventLoop& loop);

}  // namespace holdfast::support
