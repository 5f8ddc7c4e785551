#include "files/helper/protocol.h"

#include <fmt/format.h>

#include "wire/decode.h"
#include "wire/encode.h"
#include "wire/error_code.h"
#include "wire/json.h"

namespace holdfast::files {
namespace {

std::string Opening(std::string_view operation) {
  return fmt::format(R"({{"status":"ok","payload":{{"operation":"{}","response":)", operation);
}

constexpr std::string_view kClosing = "}}";

struct ErrorPayload {
  std::string message;
  ErrorKind kind = ErrorKind::kSystem;

  void Fields(wire::Decoder& f) {
    f.Required("message", message);
    kind = wire::KindOf(f.object().Find("code").int64().value_or(0));
  }
};

struct ErrorAnswer {
  std::string status;
  ErrorPayload payload;

  void Fields(wire::Decoder& f) {
    f.Required("status", status);
    f.Required("payload", payload);
  }
};

}  // namespace

std::string Request(std::string_view operation, std::string_view params_json) {
  std::string line;
  line.reserve(params_json.size() + operation.size() + 32);
  line.append(R"({"operation":")").append(operation).append(R"(","params":)").append(params_json).append("}");
  return line;
}

std::string Success(std::string_view operation, std::string_view response_json) {
  return Opening(operation).append(response_json).append(kClosing);
}

std::string Failure(const Error& error) {
  std::string line = fmt::format(R"({{"status":"error","payload":{{"code":{},"message":)", wire::ErrorCode(error.kind));
  wire::AppendString(line, error.message);
  return line.append(kClosing);
}

Result<std::string_view> ReadAnswer(std::string_view operation, std::string_view line) {
  const std::string opening = Opening(operation);
  if (line.starts_with(opening) && line.ends_with(kClosing)) {
    line.remove_prefix(opening.size());
    line.remove_suffix(kClosing.size());
    return line;
  }
  wire::Document document;
  const auto json = document.Parse(line);
  auto answer = json ? wire::Decode<ErrorAnswer>(*json) : std::unexpected(json.error());
  if (!answer || answer->status != "error")
    return Fail(ErrorKind::kInternal, "file helper: the answer cannot be understood");
  return Fail(answer->payload.kind, std::move(answer->payload.message));
}

}  // namespace holdfast::files
