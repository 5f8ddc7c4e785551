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

PathOrder::PathOrder(Limits limits) : limits_(limits), turns_([this](Id id) { Leave(id); }) {}

// The turn is issued before the wait, so that a request leaves the order even if its task ends while it waits.
loop::Task<Result<PathOrder::Turn>> PathOrder::Enter(std::vector<Claim> claims) {
  if (AllStuck()) {
    co_return Fail(ErrorKind::kLimit,
                   fmt::format("{} file requests of this connection have been running for more than {} ms", running_,
                               limits_.stuck_after.count()));
  }
  const Id id = next_id_++;
  requests_.emplace(id, Request{.claims = std::move(claims)});
  Turn turn = turns_.Issue(id);
  decltype(waiting_)::Place place(waiting_, id);
  StartWaiting();
  co_await place;
  co_return turn;
}

bool PathOrder::IsFree(const Claim& claim) const {
  if (held_) return false;
  return std::ranges::none_of(requests_, [&](const auto& earlier) { return InTheWay(earlier.second, claim); });
}

bool PathOrder::InTheWay(const Request& earlier, const Claim& claim) const {
  return std::ranges::any_of(earlier.claims, [&](const Claim& other) { return Collide(other, claim); });
}

bool PathOrder::CanStart(Requests::const_iterator request) const {
  if (held_ || running_ >= limits_.max_running) return false;
  return std::all_of(requests_.begin(), request, [&](const auto& earlier) {
    return std::ranges::none_of(request->second.claims,
                                [&](const Claim& claim) { return InTheWay(earlier.second, claim); });
  });
}

bool PathOrder::AllStuck() const {
  if (running_ < limits_.max_running) return false;
  const auto latest = Clock::now() - limits_.stuck_after;
  return std::ranges::all_of(requests_, [&](const auto& entry) {
    const Request& request = entry.second;
    return !request.started_at || *request.started_at < latest;
  });
}

// Gives their turn to the requests that can start. Their tasks may end the connection, and destroy this object with it.
void PathOrder::StartWaiting() {
  waiting_.Serve([this](Id id) -> std::optional<Start> {
    const auto request = requests_.find(id);
    if (!CanStart(request)) return std::nullopt;
    ++running_;
    request->second.started_at = Clock::now();
    return Start{};
  });
}

void PathOrder::Leave(Id id) {
  const auto request = requests_.find(id);
  if (request->second.started_at) --running_;
  requests_.erase(request);
  StartWaiting();
}

void PathOrder::Release() {
  held_ = false;
  StartWaiting();
}

}  // namespace holdfast::exec_server
