#include "exec_server/files/path_order.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "base/paths.h"

namespace holdfast::exec_server {
namespace {

bool Collide(const Claim& a, const Claim& b) {
  if (a.access == Access::kRead && b.access == Access::kRead) return false;
  return IsAtOrBelow(a.path, b.path) || IsAtOrBelow(b.path, a.path);
}

}  // namespace

PathOrder::PathOrder(Limits limits) : limits_(limits), self_(std::make_shared<PathOrder*>(this)) {}
PathOrder::~PathOrder() = default;

Result<> PathOrder::Enter(std::vector<Claim> claims, Start start) {
  if (AllStuck()) {
    return Fail(ErrorKind::kLimit,
                fmt::format("{} file requests of this connection have been running for more than {} ms", running_,
                            limits_.stuck_after.count()));
  }
  auto request = requests_.insert(requests_.end(), {std::move(claims), std::move(start), {}});
  if (CanStart(request)) StartNow(request);
  return {};
}

bool PathOrder::IsFree(const Claim& claim) const {
  if (held_) return false;
  return std::ranges::none_of(requests_, [&](const Request& earlier) { return InTheWay(earlier, claim); });
}

bool PathOrder::InTheWay(const Request& earlier, const Claim& claim) const {
  return std::ranges::any_of(earlier.claims, [&](const Claim& other) { return Collide(other, claim); });
}

bool PathOrder::CanStart(Requests::const_iterator request) const {
  if (held_ || running_ >= limits_.max_running) return false;
  return std::all_of(requests_.begin(), request, [&](const Request& earlier) {
    return std::ranges::none_of(request->claims, [&](const Claim& claim) { return InTheWay(earlier, claim); });
  });
}

bool PathOrder::AllStuck() const {
  if (running_ < limits_.max_running) return false;
  const auto latest = Clock::now() - limits_.stuck_after;
  return std::ranges::all_of(
      requests_, [&](const Request& request) { return request.start != nullptr || request.started_at < latest; });
}

void PathOrder::StartNow(Requests::iterator request) {
  ++running_;
  request->started_at = Clock::now();
  auto leave = [order = std::weak_ptr(self_), request](void*) {
    PathOrder* self = order.expired() ? nullptr : *order.lock();
    if (self != nullptr) self->Leave(request);
  };
  // A pointer to nothing, for the sake of its deleter.
  std::exchange(request->start, nullptr)(Turn(nullptr, std::move(leave)));
}

// Whatever starts may end at once, which leads back here, or end the connection and this with it. The outermost call
// does the work, and searches anew after each start.
void PathOrder::StartWaiting() {
  if (std::exchange(starting_, true)) return;
  const std::weak_ptr alive(self_);
  for (auto request = requests_.begin(); request != requests_.end();) {
    if (request->start == nullptr || !CanStart(request)) {
      ++request;
      continue;
    }
    StartNow(request);
    if (alive.expired()) return;
    request = requests_.begin();
  }
  starting_ = false;
}

void PathOrder::Leave(Requests::iterator request) {
  --running_;
  requests_.erase(request);
  StartWaiting();
}

void PathOrder::Release() {
  held_ = false;
  StartWaiting();
}

}  // namespace holdfast::exec_server
