// HoldFor keeps an object alive that nothing else refers to, such as a connection that says goodbye. The loop owns the
// object meanwhile, and destroys it with itself.
#pragma once

#include <chrono>
#include <memory>

#include "loop/event_loop.h"

namespace holdfast::transport {

void HoldFor(loop::EventLoop& loop, std::chrono::milliseconds time, std::shared_ptr<const void> object);

}  // namespace holdfast::transport
