#include "rpc/message.h"

#include <optional>

#include <fmt/format.h>

#include "wire/encode.h"
#include "wire/error_code.h"

namespace holdfast::rpc {
namespace {

std::optional<RequestId> ParseId(wire::Json json) {
  if (auto number = json.int64()) return *number;
  if (auto text = json.string()) return std::string(*text);
  return std::nullopt;
}

void AppendId(std::string& out, const RequestId& id) {
  if (const auto* number = std::get_if<int64_t>(&id)) return wire::AppendInt(out, *number);
  wire::AppendString(out, std::get<std::string>(id));
}

std::string Begin(Dialect dialect, const char* first_member) {
  std::string message = dialect == Dialect::kJsonRpc ? R"({"jsonrpc":"2.0",)" : "{";
  message += first_member;
  return message;
}

void AppendMethod(std::string& out, std::string_view method) {
  wire::AppendString(out, method);
  out += R"(,"params":)";
}

std::string BeginError(const Error& error, Dialect dialect) {
  std::string message = Begin(dialect, R"("error":{"code":)");
  wire::AppendInt(message, wire::ErrorCode(error.kind));
  message += R"(,"message":)";
  wire::AppendString(message, error.message);
  if (const std::string_view name = wire::ErrorName(error.kind); !name.empty()) {
    message += R"(,"data":{"kind":)";
    wire::AppendString(message, name);
    message += '}';
  }
  message += R"(},"id":)";
  return message;
}

Error ParseError(wire::Json error) {
  const auto text = error.Find("message").string();
  const auto code = error.Find("code").int64();
  std::string message(text.value_or("no reason was given"));
  if (!code) return {ErrorKind::kSystem, std::move(message)};
  const ErrorKind kind = wire::KindOf(*code, error.Find("data").Find("kind").string().value_or(""));
  if (wire::ErrorCode(kind) == *code) return {kind, std::move(message)};
  return {kind, fmt::format("{} (code {})", message, *code)};
}

Result<wire::Json> ParseOutcome(wire::Json message) {
  const wire::Json error = message.Find("error");
  if (!error.is_null()) return std::unexpected(ParseError(error));
  const wire::Json result = message.Find("result");
  if (result.is_absent()) return Fail(ErrorKind::kInternal, "the answer has neither a result nor an error");
  return result;
}

}  // namespace

Result<Message> ParseMessage(wire::Document& document, std::string_view text) {
  TRY(wire::Json message, document.Parse(text));
  if (!message.is_object()) {
    return Fail(ErrorKind::kInvalidRequest, "a message must be a JSON object, not " + std::string(message.kind()));
  }
  const wire::Json method = message.Find("method"), id = message.Find("id");
  auto parsed_id = ParseId(id);
  if (method.is_absent()) return Response{std::move(parsed_id).value_or(kNoRequest), ParseOutcome(message)};
  const auto name = method.string();
  if (!name) return Fail(ErrorKind::kInvalidRequest, "method: expected a string, got " + std::string(method.kind()));
  if (id.is_absent()) return Notification{*name, message.Find("params")};
  if (!parsed_id) return Fail(ErrorKind::kInvalidRequest, "id: expected a string or a 64-bit integer");
  return Request{*std::move(parsed_id), *name, message.Find("params")};
}

std::string BeginRequest(const RequestId& id, std::string_view method, Dialect dialect) {
  std::string message = Begin(dialect, R"("id":)");
  AppendId(message, id);
  message += R"(,"method":)";
  AppendMethod(message, method);
  return message;
}

std::string BeginNotification(std::string_view method, Dialect dialect) {
  std::string message = Begin(dialect, R"("method":)");
  AppendMethod(message, method);
  return message;
}

std::string BeginResult(const RequestId& id, Dialect dialect) {
  std::string message = Begin(dialect, R"("id":)");
  AppendId(message, id);
  message += R"(,"result":)";
  return message;
}

std::string ErrorMessage(const RequestId& id, const Error& error, Dialect dialect) {
  std::string message = BeginError(error, dialect);
  AppendId(message, id);
  message += '}';
  return message;
}

std::string RefusalMessage(const Error& error, Dialect dialect) {
  if (dialect == Dialect::kJsonRpc) return BeginError(error, dialect) + "null}";
  const ErrorKind kind = error.kind == ErrorKind::kNotJson ? ErrorKind::kInvalidRequest : error.kind;
  return ErrorMessage(kNoRequest, {kind, error.message}, dialect);
}

}  // namespace holdfast::rpc
