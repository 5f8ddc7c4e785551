#include "escalate/messages/messages.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <unordered_set>
#include <utility>

#include <fmt/format.h>

#include "base/utf8.h"
#include "sys/descriptor_passing.h"
#include "wire/decode.h"
#include "wire/encode.h"

namespace holdfast::escalate {
namespace {

using Words = std::vector<std::string>;
using ByteWords = std::vector<wire::Bytes>;

// Each part is text, as in the published protocol, or base64 where text cannot carry it: JSON has no bytes that are not
// UTF-8, and its objects have neither a name twice nor entries without a value. A server that does not know base64
// misses the part and refuses the request, instead of running something else.
struct RequestFields {
  std::optional<std::string> file = {}, workdir = {};
  std::optional<wire::Bytes> file_base64 = {}, workdir_base64 = {};
  std::optional<Words> argv = {};
  std::optional<ByteWords> argv_base64 = {}, env_base64 = {};
  std::optional<wire::StringMap> env = {};

  void Fields(auto& f) {
    f.Optional("file", file);
    f.Optional("fileBase64", file_base64);
    f.Optional("argv", argv);
    f.Optional("argvBase64", argv_base64);
    f.Optional("workdir", workdir);
    f.Optional("workdirBase64", workdir_base64);
    f.Optional("env", env);
    f.Optional("envBase64", env_base64);
  }
};

bool IsMap(const Words& environment) {
  std::unordered_set<std::string_view> names;
  return std::ranges::all_of(environment, [&](std::string_view entry) {
    const size_t end = entry.find('=');
    return end != entry.npos && IsUtf8(entry) && names.insert(entry.substr(0, end)).second;
  });
}

wire::StringMap MapOf(const Words& environment) {
  wire::StringMap map;
  for (const std::string& entry : environment) {
    const size_t end = entry.find('=');
    map.emplace_back(entry.substr(0, end), entry.substr(end + 1));
  }
  return map;
}

Result<Words> EntriesOf(const wire::StringMap& map) {
  Words entries;
  for (const auto& [name, value] : map) {
    if (name.contains('=')) return Fail(ErrorKind::kInvalidParams, "env: a name contains an equals sign");
    entries.push_back(fmt::format("{}={}", name, value));
  }
  return entries;
}

Words Owned(ByteWords words) {
  Words owned;
  for (wire::Bytes& word : words) owned.push_back(std::move(word).Take());
  return owned;
}

// A part of the request must come exactly once: as text or as base64. `name` is that of the part.
template <typename Text, typename Bytes>
Result<> CheckForms(const char* name, const std::optional<Text>& text, const std::optional<Bytes>& bytes) {
  if (text.has_value() == bytes.has_value()) {
    return Fail(ErrorKind::kInvalidParams, std::string(name) + (text ? ": comes twice" : ": is missing"));
  }
  return {};
}

Result<> CheckNoNul(const ExecRequest& request) {
  const auto has_nul = [](const std::string& word) { return word.contains('\0'); };
  if (has_nul(request.file) || has_nul(request.workdir) || std::ranges::any_of(request.argv, has_nul) ||
      std::ranges::any_of(request.environment, has_nul)) {
    return Fail(ErrorKind::kInvalidParams, "a string contains a NUL");
  }
  return {};
}

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

bool IsBeyondJson(const ExecRequest& request) {
  return !IsUtf8(request.file) || !IsUtf8(request.workdir) || !std::ranges::all_of(request.argv, IsUtf8) ||
         !IsMap(request.environment);
}

std::string Encode(const ExecRequest& request) {
  const auto put = [](const std::string& text, auto& plain, auto& base64) {
    if (IsUtf8(text)) {
      plain = text;
    } else {
      base64 = wire::Bytes(text);
    }
  };
  RequestFields fields;
  put(request.file, fields.file, fields.file_base64);
  put(request.workdir, fields.workdir, fields.workdir_base64);
  if (std::ranges::all_of(request.argv, IsUtf8)) {
    fields.argv = request.argv;
  } else {
    fields.argv_base64 = ByteWords(request.argv.begin(), request.argv.end());
  }
  if (IsMap(request.environment)) {
    fields.env = MapOf(request.environment);
  } else {
    fields.env_base64 = ByteWords(request.environment.begin(), request.environment.end());
  }
  return wire::Encode(std::move(fields));
}

Result<ExecRequest> DecodeRequest(std::string_view text) {
  wire::Document document;
  TRY(const wire::Json json, document.Parse(text));
  TRY(RequestFields fields, wire::Decode<RequestFields>(json, "request"));
  TRY_VOID(CheckForms("file", fields.file, fields.file_base64));
  TRY_VOID(CheckForms("argv", fields.argv, fields.argv_base64));
  TRY_VOID(CheckForms("workdir", fields.workdir, fields.workdir_base64));
  TRY_VOID(CheckForms("env", fields.env, fields.env_base64));
  ExecRequest request;
  request.file = fields.file ? *std::move(fields.file) : std::move(*fields.file_base64).Take();
  request.workdir = fields.workdir ? *std::move(fields.workdir) : std::move(*fields.workdir_base64).Take();
  request.argv = fields.argv ? *std::move(fields.argv) : Owned(*std::move(fields.argv_base64));
  if (fields.env) {
    TRY(request.environment, EntriesOf(*fields.env));
  } else {
    request.environment = Owned(*std::move(fields.env_base64));
  }
  TRY_VOID(CheckNoNul(request));
  if (request.file.empty()) return Fail(ErrorKind::kInvalidParams, "file: is empty");
  if (!request.workdir.starts_with('/')) return Fail(ErrorKind::kInvalidParams, "workdir: is not absolute");
  return request;
}

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
