#include "mcp/elicitation.h"

#include <chrono>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/shown_text.h"
#include "loop/sleep.h"
#include "mcp/messages/methods.h"

namespace holdfast::mcp {
namespace {

// The program's own path comes first: argv[0] may be any text.
std::string CommandText(const escalate::Question& question) {
  std::vector<std::string> words = {question.file};
  if (!question.argv.empty()) words.insert(words.end(), question.argv.begin() + 1, question.argv.end());
  return ShownCommand(words);
}

constexpr std::chrono::milliseconds kCongestionPause(20);

constexpr char kSchema[] =
    R"({"type":"object","title":"Execution Permission Request","properties":{"reason":{"type":"string",)"
    R"("description":"Optional reason for allowing or denying execution"}}})";

escalate::Answer Denied(std::string reason) { return {exec_policy::Action::kDeny, std::move(reason)}; }

escalate::Answer AnswerOf(const Result<ElicitResult>& result, exec_policy::Action when_approved) {
  if (!result) return Denied("The client failed to ask its user: " + result.error().message);
  if (result->action == "accept") return {when_approved};
  if (result->action == "decline") return Denied("User declined execution");
  if (result->action == "cancel") return Denied("User cancelled execution");
  return Denied("The client answered the question with the unknown action \"" + result->action + "\"");
}

}  // namespace

std::string ApprovalMessage(const escalate::Question& question) {
  std::string text = fmt::format("Allow agent to run `{}` in `{}`?", CommandText(question), ShownWord(question.cwd));
  if (question.when_approved == exec_policy::Action::kEscalate) {
    text += "\nIt will run outside of the sandbox.";
    if (!question.variables.empty()) text += fmt::format("\nIt will get `{}`.", ShownVariables(question.variables));
  }
  if (!question.reason.empty()) text += "\n" + ShownText(question.reason);
  return text;
}

Elicitation ElicitationOf(wire::Json capability) {
  const bool shows_forms = capability.is_object() && (capability.size() == 0 || !capability.Find("form").is_null());
  return shows_forms ? Elicitation::kSupported : Elicitation::kUnsupported;
}

loop::Task<escalate::Answer> AskClient(loop::EventLoop& loop, rpc::Peer& peer, Elicitation elicitation,
                                       escalate::Question question) {
  if (elicitation == Elicitation::kUnsupported) {
    co_return Denied(
        "The rules require approval, and this client cannot ask its user: it has not declared the capability "
        "elicitation");
  }
  // A command can ask, and end, as often as it likes, and each question stays in the queue of a client that does not
  // read.
  while (peer.congested() && !peer.closed()) co_await loop::Sleep(loop, kCongestionPause);
  ElicitParams params{.message = ApprovalMessage(question), .requested_schema = {kSchema}};
  auto result = co_await peer.Call<Elicit>(std::move(params), std::nullopt);
  co_return AnswerOf(result, question.when_approved);
}

}  // namespace holdfast::mcp
