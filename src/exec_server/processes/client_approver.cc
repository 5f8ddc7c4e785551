#include "exec_server/processes/client_approver.h"

#include "loop/scope.h"
#include "wire/encode.h"
#include "wire/methods.h"

namespace holdfast::exec_server {
namespace {

using exec_policy::Action;
using wire::ExecDecision;

constexpr size_t kEnvelopeBytes = 256;  // a generous estimate for a request without its params

escalate::Answer Denied(std::string reason) { return {.action = Action::kDeny, .reason = std::move(reason)}; }

escalate::Answer AnswerOf(const Result<wire::ExecApproveResult>& outcome) {
  if (!outcome) return Denied("The client could not be asked: " + outcome.error().message);
  switch (outcome->decision) {
    case ExecDecision::kRun:
      return {.action = Action::kRun};
    case ExecDecision::kEscalate:
      return {.action = Action::kEscalate};
    case ExecDecision::kDeny:
      break;
  }
  return Denied(outcome->reason.value_or("User declined execution"));
}

bool IsCut(const Result<wire::ExecApproveResult>& outcome) {
  return !outcome && outcome.error().kind == ErrorKind::kDisconnected;
}

}  // namespace

wire::ExecApproveParams ClientApprover::ParamsFor(escalate::Question question) const {
  return {.process_id = process_id_,
          .file = std::move(question.file),
          .argv = std::move(question.argv),
          .cwd = std::move(question.cwd),
          .reason = std::move(question.reason),
          .rule = std::move(question.rule),
          .proposed = question.when_approved == Action::kEscalate ? ExecDecision::kEscalate : ExecDecision::kRun};
}

loop::Task<> ClientApprover::Call(std::shared_ptr<rpc::Peer> peer, wire::ExecApproveParams params, Outcome& outcome) {
  outcome.emplace(co_await peer->Call<wire::ExecApprove>(std::move(params), std::nullopt));
  session_.driver_changed.Notify();  // all questions of the session look again, and this one finds its answer
}

loop::Task<escalate::Answer> ClientApprover::Ask(escalate::Question question) {
  if (!session_.link.is_open()) co_return Denied("No client is connected that could be asked");
  const wire::ExecApproveParams params = ParamsFor(std::move(question));
  const size_t bytes = wire::Encode(params).size() + kEnvelopeBytes;
  loop::Deadline deadline(loop_, time_limit_);
  while (!deadline.passed()) {
    if (session_.link.is_open() && bytes > session_.link.client().max_message_bytes) {
      co_return Denied("The command is too long for a question to the client");
    }
    const auto peer = session_.link.peer();
    Outcome outcome;
    loop::Scope asking;  // its end forgets the call
    if (peer && !peer->closed()) asking.Start(Call(peer, params, outcome));
    while (!outcome && session_.link.peer() == peer && !deadline.passed()) {
      co_await session_.driver_changed.NextBefore(deadline);
    }
    if (outcome && !IsCut(*outcome)) co_return AnswerOf(*outcome);
  }
  co_return Denied("No answer came in time");
}

}  // namespace holdfast::exec_server
