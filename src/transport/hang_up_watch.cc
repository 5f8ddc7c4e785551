#include "transport/hang_up_watch.h"

#include <poll.h>

#include <utility>

namespace holdfast::transport {
namespace {

using namespace std::chrono_literals;
constexpr auto kInterval = 1s;

}  // namespace

HangUpWatch::HangUpWatch(loop::EventLoop& loop, int fd, Sign sign, loop::Callback on_hang_up)
    : fd_(fd), sign_(sign), on_hang_up_(std::move(on_hang_up)), timer_(loop, [this] { Check(); }) {}

void HangUpWatch::Start() {
  if (!timer_.running()) timer_.Start(kInterval);
}

bool HangUpWatch::hung_up() const {
  const short gone = static_cast<short>(POLLHUP | POLLERR | (sign_ == Sign::kEitherSide ? POLLRDHUP : 0));
  pollfd state{.fd = fd_, .events = gone, .revents = 0};
  return ::poll(&state, 1, 0) > 0 && (state.revents & gone) != 0;
}

void HangUpWatch::Check() {
  if (hung_up()) return on_hang_up_();
  timer_.Start(kInterval);
}

}  // namespace holdfast::transport
