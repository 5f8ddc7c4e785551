#include "escalate/messages/messages.h"

#include <cstdint>
#include <utility>

#include "sys/descriptor_passing.h"
#include "wire/decode.h"
#include "wire/encode.h"

namespace holdfast::escalate {
namespace {

using exec_policy::Action;

constexpr int64_t kMaxFdNumber = 1 << 20;  // above the usual limits of open files

struct AnswerFields {
  wire::Json action;

  void Fields(auto& f) { f.Required("action", action); }
};

struct DenialFields {
  std::optional<std::string> reason;

  void Fields(auto& f) { f.Nullable("reason", reason); }
};

struct HandOverFields {
  std::vector<int64_t> fds;

  void Fields(auto& f) { f.Required("fds", fds); }
};

struct ExitCodeFields {
  int64_t exit_code = 0;

  void Fields(auto& f) { f.Required("exit_code", exit_code); }
};

template <typename T>
Result<T> DecodeFields(wire::Document& document, std::string_view text) {
  TRY(const wire::Json json, document.Parse(text));
  return wire::Decode<T>(json, "message");
}

}  // namespace

std::string Encode(const ExecAnswer& answer) {
  switch (answer.action) {
    case Action::kRun:
      return R"({"action":"Run"})";
    case Action::kEscalate:
      return R"({"action":"Escalate"})";
    case Action::kDeny:
      return R"({"action":{"Deny":)" + wire::Encode(DenialFields{answer.reason}) + "}}";
  }
  std::unreachable();
}

Result<ExecAnswer> DecodeAnswer(std::string_view text) {
  wire::Document document;
  TRY(const AnswerFields fields, DecodeFields<AnswerFields>(document, text));
  if (const auto name = fields.action.string()) {
    if (*name == "Run") return ExecAnswer{.action = Action::kRun};
    if (*name == "Escalate") return ExecAnswer{.action = Action::kEscalate};
  }
  const wire::Json denial = fields.action.Find("Deny");
  if (!denial.is_object()) return Fail(ErrorKind::kInvalidParams, "the action is none of Run, Escalate and Deny");
  TRY(DenialFields denied, wire::Decode<DenialFields>(denial, "Deny"));
  return ExecAnswer{.action = Action::kDeny, .reason = std::move(denied.reason)};
}

std::string Encode(const HandOver& message) {
  return wire::Encode(HandOverFields{{message.fds.begin(), message.fds.end()}});
}

Result<HandOver> DecodeHandOver(std::string_view text) {
  wire::Document document;
  TRY(const HandOverFields fields, DecodeFields<HandOverFields>(document, text));
  if (fields.fds.size() > sys::kMaxPassedFds) return Fail(ErrorKind::kLimit, "fds: has too many numbers");
  HandOver message;
  for (const int64_t number : fields.fds) {
    if (number < 0 || number > kMaxFdNumber) return Fail(ErrorKind::kInvalidParams, "fds: a number is out of range");
    message.fds.push_back(static_cast<int>(number));
  }
  return message;
}

std::string Encode(const ExitCode& end) { return wire::Encode(ExitCodeFields{end.exit_code}); }

Result<ExitCode> DecodeExitCode(std::string_view text) {
  wire::Document document;
  TRY(const ExitCodeFields fields, DecodeFields<ExitCodeFields>(document, text));
  return ExitCode{static_cast<int>(fields.exit_code & 0xff)};
}

}  // namespace holdfast::escalate
