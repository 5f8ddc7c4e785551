#include "escalate/messages/messages.h"

#include <csignal>
#include <utility>

#include <fmt/format.h>

#include "sys/descriptor_passing.h"
#include "wire/decode.h"
#include "wire/encode.h"

namespace holdfast::escalate {
namespace {

using exec_policy::Action;

constexpr int64_t kMaxFdNumber = 1 << 20;  // above the usual limits of open files

struct AnswerFields {
  wire::Json action;
  bool takes_everything = false;

  void Fields(auto& f) {
    f.Required("action", action);
    f.Optional("takesEverything", takes_everything);
  }
};

struct DenialFields {
  std::optional<std::string> reason;

  void Fields(auto& f) { f.Nullable("reason", reason); }
};

struct StateFields {
  uint64_t umask = 0, ignored_signals = 0, blocked_signals = 0;
  int64_t nice = 0;

  void Fields(auto& f) {
    f.Required("umask", umask);
    f.Required("ignoredSignals", ignored_signals);
    f.Required("blockedSignals", blocked_signals);
    f.Required("nice", nice);
  }
};

struct HandOverFields {
  std::vector<int64_t> fds;
  std::optional<StateFields> state;

  void Fields(auto& f) {
    f.Required("fds", fds);
    f.Optional("state", state);
  }
};

struct NewsFields {
  std::optional<int64_t> exit_code, signal, stopped;
  std::optional<uint64_t> continue_count;
  std::optional<std::string> reason;

  void Fields(auto& f) {
    f.Optional("exit_code", exit_code);
    f.Optional("signal", signal);
    f.Optional("stopped", stopped);
    f.Optional("continueCount", continue_count);
    f.Optional("reason", reason);
  }
};

struct SignalFields {
  int64_t signal = 0;

  void Fields(auto& f) { f.Required("signal", signal); }
};

template <typename T>
Result<T> DecodeFields(wire::Document& document, std::string_view text) {
  TRY(const wire::Json json, document.Parse(text));
  return wire::Decode<T>(json, "message");
}

Result<int> CheckSignal(int64_t number) {
  if (number < 1 || number > SIGRTMAX) return Fail(ErrorKind::kInvalidParams, fmt::format("no signal is {}", number));
  return static_cast<int>(number);
}

}  // namespace

std::string Encode(const ExecAnswer& answer) {
  if (answer.action == Action::kRun) return R"({"action":"Run"})";
  if (answer.action == Action::kDeny) {
    return R"({"action":{"Deny":)" + wire::Encode(DenialFields{answer.reason}) + "}}";
  }
  return answer.takes_everything ? R"({"action":"Escalate","takesEverything":true})" : R"({"action":"Escalate"})";
}

Result<ExecAnswer> DecodeAnswer(std::string_view text) {
  wire::Document document;
  TRY(const AnswerFields fields, DecodeFields<AnswerFields>(document, text));
  if (const auto name = fields.action.string()) {
    if (*name == "Run") return ExecAnswer{.action = Action::kRun};
    if (*name == "Escalate")
      return ExecAnswer{.action = Action::kEscalate, .takes_everything = fields.takes_everything};
  }
  const wire::Json denial = fields.action.Find("Deny");
  if (!denial.is_object()) return Fail(ErrorKind::kInvalidParams, "the action is none of Run, Escalate and Deny");
  TRY(DenialFields denied, wire::Decode<DenialFields>(denial, "Deny"));
  return ExecAnswer{.action = Action::kDeny, .reason = std::move(denied.reason)};
}

std::string Encode(const HandOver& message) {
  HandOverFields fields;
  fields.fds.assign(message.fds.begin(), message.fds.end());
  if (const auto& state = message.state) {
    fields.state = {.umask = state->umask,
                    .ignored_signals = state->ignored_signals,
                    .blocked_signals = state->blocked_signals,
                    .nice = state->nice};
  }
  return wire::Encode(std::move(fields));
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
  if (const auto& state = fields.state) {
    if (state->umask > 0777) return Fail(ErrorKind::kInvalidParams, "state: umask is out of range");
    if (state->nice < -20 || state->nice > 19) return Fail(ErrorKind::kInvalidParams, "state: nice is out of range");
    message.state = {.umask = static_cast<unsigned>(state->umask),
                     .nice = static_cast<int>(state->nice),
                     .ignored_signals = state->ignored_signals,
                     .blocked_signals = state->blocked_signals};
  }
  return message;
}

std::string Encode(const CommandNews& news) {
  NewsFields fields;
  if (news.kind == CommandNews::Kind::kStopped) {
    fields.stopped = news.signal;
    fields.continue_count = news.continue_count;
  } else {
    fields.exit_code = news.exit_code;
    if (news.signal != 0) fields.signal = news.signal;
    fields.reason = news.reason;
  }
  return wire::Encode(std::move(fields));
}

Result<CommandNews> DecodeNews(std::string_view text) {
  wire::Document document;
  TRY(NewsFields fields, DecodeFields<NewsFields>(document, text));
  if (fields.stopped) {
    TRY(const int signal, CheckSignal(*fields.stopped));
    return CommandNews{
        .kind = CommandNews::Kind::kStopped, .signal = signal, .continue_count = fields.continue_count.value_or(0)};
  }
  if (!fields.exit_code) return Fail(ErrorKind::kInvalidParams, "exit_code: is missing");
  CommandNews news{.exit_code = static_cast<int>(*fields.exit_code & 0xff), .reason = std::move(fields.reason)};
  if (fields.signal) {
    TRY(news.signal, CheckSignal(*fields.signal));
  }
  return news;
}

std::string EncodeSignal(int signal) { return wire::Encode(SignalFields{signal}); }

Result<int> DecodeSignal(std::string_view text) {
  wire::Document document;
  TRY(const SignalFields fields, DecodeFields<SignalFields>(document, text));
  return CheckSignal(fields.signal);
}

}  // namespace holdfast::escalate
