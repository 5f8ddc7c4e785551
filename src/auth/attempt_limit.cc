#include "auth/attempt_limit.h"

#include <algorithm>
#include <tuple>
#include <utility>

namespace holdfast::auth {
namespace {

// Returns the window of the address that is not over; null if there is none.
auto* Find(auto& windows, const PeerAddress& address, AttemptLimit::Clock::time_point now) {
  const auto found =
      std::ranges::find_if(windows, [&](const auto& window) { return window.end > now && window.address == address; });
  return found != windows.end() ? &*found : nullptr;
}

}  // namespace

std::optional<std::chrono::seconds> AttemptLimit::WaitOf(const PeerAddress& address, Clock::time_point now) const {
  const Window* const window = Find(windows_, address, now);
  if (window == nullptr || window->failures < kMaxFailures) return std::nullopt;
  return std::chrono::ceil<std::chrono::seconds>(window->end - now);
}

AttemptLimit::Failure AttemptLimit::Count(const PeerAddress& address, Clock::time_point now) {
  Window* window = Find(windows_, address, now);
  if (window == nullptr) {
    window = &Replace(now);
    *window = {.address = address, .end = now + kWindow, .failures = 0};
  }
  window->failures = std::min(window->failures + 1, kMaxFailures + 1);
  if (window->failures > kMaxFailures) return Failure::kBeyondLimit;
  if (window->failures == kMaxFailures) return Failure::kReachesLimit;
  return window->failures == 1 ? Failure::kFirst : Failure::kFurther;
}

// A window that is over is replaced first, and then the one with the fewest failures: addresses that are tried once
// each do not push out one that has to wait.
AttemptLimit::Window& AttemptLimit::Replace(Clock::time_point now) {
  return *std::ranges::min_element(
      windows_, {}, [now](const Window& window) { return std::tuple(window.end > now, window.failures, window.end); });
}

}  // namespace holdfast::auth
