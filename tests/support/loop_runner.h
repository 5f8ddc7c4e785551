// Functions that run a loop on the thread of the test.
#pragma once

#include <chrono>
#include <functional>

#include "loop/event_loop.h"
#include "support/test_socket.h"

namespace holdfast::support {

// Runs callbacks until `done` returns true. It is called after each callback and, because it may depend on something
// that the loop does not see, every few milliseconds. Returns false if `done` does not return true within `patience`.
bool RunUntil(loop::EventLoop& loop, const std::function<bool()>& done, std::chrono::milliseconds patience = kPatience);

// Runs one callback. If none is ready, waits for one until `deadline`, and returns false if none comes.
bool RunOne(loop::EventLoop& loop, std::chrono::steady_clock::time_point deadline);

// Runs the callbacks that are ready at this moment, and those that they make ready, without waiting.
void RunReady(loop::EventLoop& loop);

}  // namespace holdfast::support
