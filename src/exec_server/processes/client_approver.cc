#include "exec_server/processes/client_approver.h"

#include <chrono>
#include <memory>
#include <optional>
#include <string>

#include "base/shown_text.h"
#include "loop/scope.h"
#include "loop/sleep.h"
#include "rpc/peer.h"
#include "wire/encode.h"
#include "wire/json_limits.h"
#include "wire/methods.h"

namespace holdfast::exec_server {
namespace {

using exec_policy::Action;
using wire::ExecDecision;

constexpr size_t kEnvelopeBytes = 256;  // a generous estimate for a request without its params

// No person can judge a longer command. A client refuses messages with very many values (wire/json_limits.h).
constexpr size_t kMaxQuestionBytes = 256u << 10, kMaxQuestionWords = 65'536;
static_assert(kMaxQuestionWords < wire::kMaxJsonValues / 2);

constexpr char kTooLong[] = "The command is too long for a question to the client";

constexpr std::chrono::milliseconds kCongestionPause(20);

bool IsTooLong(const escalate::Question& question) {
  size_t bytes = question.file.size() + question.cwd.size();
  for (const std::string& word : question.argv) bytes += word.size();
  for (const auto& [name, value] : question.variables) bytes += name.size() + value.size();
  return bytes > kMaxQuestionBytes || question.argv.size() + question.variables.size() > kMaxQuestionWords;
}

escalate::Answer Denied(std::string reason) { return {.action = Action::kDeny, .reason = std::move(reason)}; }

escalate::Answer AnswerOf(const Result<wire::ExecApproveResult>& outcome) {
  if (!outcome) return Denied("The client could not be asked: " + ShownExcerpt(outcome.error().message));
  switch (outcome->decision) {
    case ExecDecision::kRun:
      return {.action = Action::kRun};
    case ExecDecision::kEscalate:
      return {.action = Action::kEscalate};
    case ExecDecision::kDeny:
      break;
  }
  // The command's standard error shows the reason, and that may be a terminal.
  return Denied(ShownExcerpt(outcome->reason.value_or("User declined execution")));
}

bool IsCut(const Result<wire::ExecApproveResult>& outcome) {
  return !outcome && outcome.error().kind == ErrorKind::kDisconnected;
}

using Outcome = std::optional<Result<wire::ExecApproveResult>>;

// Both tasks belong to one question and notify its event `news`: the first when the answer has arrived, the second when
// `peer` does not lead to the driver any more.
loop::Task<> Call(std::shared_ptr<rpc::Peer> peer, wire::ExecApproveParams params, Outcome& outcome,
                  loop::Event& news) {
  outcome.emplace(co_await peer->Call<wire::ExecApprove>(std::move(params), std::nullopt));
  news.Notify();
}

loop::Task<> WatchDriver(ClientApprover::Session session, std::shared_ptr<rpc::Peer> peer, loop::Event& news) {
  while (session.link.peer() == peer) co_await session.driver_changed.Next();
  news.Notify();
}

}  // namespace

wire::ExecApproveParams ClientApprover::ParamsFor(escalate::Question question) const {
  return {.process_id = process_id_,
          .file = std::move(question.file),
          .argv = std::move(question.argv),
          .cwd = std::move(question.cwd),
          .reason = std::move(question.reason),
          .rule = std::move(question.rule),
          .env = std::move(question.variables),
          .proposed = question.when_approved == Action::kEscalate ? ExecDecision::kEscalate : ExecDecision::kRun};
}

loop::Task<escalate::Answer> ClientApprover::Ask(escalate::Question question) {
  if (!session_.link.is_open()) co_return Denied("No client is connected that could be asked");
  if (IsTooLong(question)) co_return Denied(kTooLong);
  const wire::ExecApproveParams params = ParamsFor(std::move(question));
  const size_t bytes = wire::Encode(params).size() + kEnvelopeBytes;
  loop::Deadline deadline(loop_, time_limit_);
  while (!deadline.passed()) {
    if (session_.link.is_open() && bytes > session_.link.client().max_message_bytes) {
      co_return Denied(kTooLong);
    }
    // A command can ask, and end, as often as it likes, and each question stays in the queue of a client that does not
    // read.
    if (session_.link.is_congested()) {
      co_await loop::Sleep(loop_, kCongestionPause);
      continue;
    }
    const auto peer = session_.link.peer();
    Outcome outcome;
    loop::Event news;
    loop::Scope asking;  // its end forgets the call
    asking.Start(WatchDriver(session_, peer, news));
    if (peer && !peer->closed()) asking.Start(Call(peer, params, outcome, news));
    while (!outcome && session_.link.peer() == peer && !deadline.passed()) co_await news.NextBefore(deadline);
    if (outcome && !IsCut(*outcome)) co_return AnswerOf(*outcome);
  }
  co_return Denied("No answer came in time");
}

}  // namespace holdfast::exec_server
