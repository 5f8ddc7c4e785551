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

void RunReady(loop::EventLoop& loop) { loop.context().poll(); }

}  // namespace holdfast::support
