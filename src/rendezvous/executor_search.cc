#include "rendezvous/executor_search.h"

#include <algorithm>
#include <utility>

#include "loop/event.h"

namespace holdfast::rendezvous {

using Clock = ExecutorTable::Clock;

loop::Task<std::expected<std::optional<FoundExecutor>, Refusal>> ExecutorSearch::Find(const transport::HttpCall& call,
                                                                                      std::string id) {
  const loop::Deadline deadline(loop_, times_.longest);
  bool is_known = false;
  while (!call.gone()) {
    if (auto connection = table_.Take(id, Clock::now())) {
      auto pipe = connection->pipe;
      co_return FoundExecutor{.pipe = std::move(pipe), .connection = std::move(connection)};
    }
    auto elsewhere = co_await bus_.Join(id);
    if (elsewhere) co_return FoundExecutor{.pipe = *std::move(elsewhere)};
    const bool others_have_none = elsewhere.error().kind == ErrorKind::kNotFound;
    if (!is_known) {
      const auto refusal = co_await WhyUnknown(id);
      if (refusal) co_return std::unexpected(*refusal);
      is_known = true;
    }
    if (deadline.passed()) co_return std::unexpected(others_have_none ? Refusal::kNoneWaits : Refusal::kNotReady);
    const auto longest = std::min(times_.interval, *deadline.left());
    co_await AwaitChange(call, id, longest);
  }
  co_return std::nullopt;
}

loop::Task<std::optional<Refusal>> ExecutorSearch::WhyUnknown(std::string id) {
  if (table_.Remembers(id, Clock::now())) co_return std::nullopt;
  const auto others = co_await bus_.Others();
  if (!others) co_return Refusal::kNotReady;
  if (std::ranges::find(*others, id, &ExecutorRecord::id) != others->end()) co_return std::nullopt;
  // The executor may have come while the other nodes were asked.
  if (table_.Remembers(id, Clock::now())) co_return std::nullopt;
  co_return Refusal::kUnknownExecutor;
}

loop::Task<> ExecutorSearch::AwaitChange(const transport::HttpCall& call, std::string id,
                                         std::chrono::milliseconds longest) {
  loop::Deadline deadline(loop_, longest);
  while (!table_.HasWaiting(id) && !call.gone()) {
    const auto woken = co_await table_.added().NextBefore(deadline);
    if (woken == loop::Event::Woken::kByTime) co_return;
  }
}

}  // namespace holdfast::rendezvous
