// Sleep is a wait that only time ends.
#pragma once

#include <chrono>

#include "loop/event_loop.h"
#include "loop/task.h"

namespace holdfast::loop {

// Ends when `time` has passed, in a later turn of the loop; at once if `time` is not positive.
Task<> Sleep(EventLoop& loop, std::chrono::nanoseconds time);

}  // namespace holdfast::loop
