#include "rpc/envelope.h"

#include <optional>

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

}  // namespace

Result<Incoming> ParseEnvelope(wire::Document& document, std::string_view text) {
  TRY(wire::Json message, document.Parse(text));
  if (!message.is_object()) {
    return Fail(ErrorKind::kInvalidRequest, "a message must be a JSON object, not " + std::string(message.kind()));
  }
  wire::Json method = message.Find("method");
  if (method.is_absent()) {
    return Fail(ErrorKind::kInvalidRequest,
                "a message without method: this server sends no requests, so it expects no answers");
  }
  auto name = method.string();
  if (!name) return Fail(ErrorKind::kInvalidRequest, "method: expected a string, got " + std::string(method.kind()));
  wire::Json id = message.Find("id");
  if (id.is_absent()) return Notification{*name, message.Find("params")};
  auto parsed = ParseId(id);
  if (!parsed) return Fail(ErrorKind::kInvalidRequest, "id: expected a string or a 64-bit integer");
  return Request{std::move(*parsed), *name, message.Find("params")};
}

std::string BeginResult(const RequestId& id) {
  std::string message = R"({"id":)";
  AppendId(message, id);
  message += R"(,"result":)";
  return message;
}

std::string ErrorMessage(const RequestId& id, const Error& error) {
  std::string message = R"({"error":{"code":)";
  wire::AppendInt(message, wire::ErrorCode(error.kind));
  message += R"(,"message":)";
  wire::AppendString(message, error.message);
  message += R"(},"id":)";
  AppendId(message, id);
  message += '}';
  return message;
}

}  // namespace holdfast::rpc
