#include "rendezvous/executor_search.h"

#include <algorithm>
#include <utility>

#include "loop/event.h"

namespace holdfast::rendezvous {

using Clock = ExecutorTable::Clock;

namespace {

Refusal RefusalOf(NotElsewhere why) {
  switch (why) {
    case NotElsewhere::kUnknown:
    case NotElsewhere::kNoneWaits:
      return Refusal::kNoneWaits;
    case NotElsewhere::kUnreachable:
      return Refusal::kNodeUnreachable;
    case NotElsewhere::kNotReady:
      return Refusal::kNotReady;
  }
  return Refusal::kNotReady;
}

}  // namespace

// The client need not wait if neither this node nor another knows the executor.
loop::Task<std::expected<std::optional<FoundExecutor>, Refusal>> ExecutorSearch::Find(const transport::HttpCall& call,
                                                                                      std::string id) {
  const loop::Deadline deadline(loop_, times_.longest);
  bool is_known = false;
  while (!call.gone()) {
    if (auto connection = table_.Take(id, Clock::now())) {
      auto pipe = connection->pipe;
      co_return FoundExecutor{.pipe = std::move(pipe), .connection = std::move(connection)};
    }
    auto elsewhere = co_await neighbours_.Join(id);
    if (elsewhere) co_return FoundExecutor{.pipe = *std::move(elsewhere)};
    const NotElsewhere why = elsewhere.error();
    const bool others_know = why == NotElsewhere::kNoneWaits || why == NotElsewhere::kUnreachable;
    is_known = is_known || others_know || table_.Remembers(id, Clock::now());
    if (!is_known) {
      co_return std::unexpected(why == NotElsewhere::kUnknown ? Refusal::kUnknownExecutor : Refusal::kNotReady);
    }
    if (deadline.passed()) co_return std::unexpected(RefusalOf(why));
    const auto longest = std::min(times_.interval, *deadline.left());
    co_await AwaitChange(call, id, longest);
  }
  co_return std::nullopt;
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
