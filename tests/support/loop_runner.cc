#include "support/loop_runner.h"

#include <boost/asio/io_context.hpp>

namespace holdfast::support {

using namespace std::chrono_literals;

bool RunUntil(loop::EventLoop& loop, const std::function<bool()>& done, std::chrono::milliseconds patience) {
  const auto deadline = std::chrono::steady_clock::now() + patience;
  while (!done()) {
    if (std::chrono::steady_clock::now() >= deadline) return false;
    loop.context().run_one_for(5ms);
  }
  return true;
}

bool RunOne(loop::EventLoop& loop, std::chrono::steady_clock::time_point deadline) {
  return loop.context().poll_one() > 0 || loop.context().run_one_until(deadline) > 0;
}

void RunReady(loop::EventLoop& loop) { loop.context().poll(); }

}  // namespace holdfast::support
