#include "transport/hold_for.h"

#include <utility>

#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>

namespace holdfast::transport {

void HoldFor(loop::EventLoop& loop, std::chrono::milliseconds time, std::shared_ptr<const void> object) {
  auto timer = std::make_shared<boost::asio::steady_timer>(loop.context(), time);
  auto& started = *timer;
  started.async_wait([timer = std::move(timer), object = std::move(object)](boost::system::error_code) {});
}

}  // namespace holdfast::transport
