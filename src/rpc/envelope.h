// The envelope is the outermost JSON object of a message. A message with `method` and `id` is a request, and one with
// `method` alone is a notification. Every other message is refused, because the server sends no requests that a client
// could answer. `jsonrpc`, `trace` and any other member are ignored.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>

#include "base/result.h"
#include "wire/json.h"

namespace holdfast::rpc {

using RequestId = std::variant<int64_t, std::string>;

// The id of an error that answers a message without an id.
inline const RequestId kNoRequest = int64_t{-1};

struct Request {
  RequestId id;
  std::string_view method;
  wire::Json params;
};

struct Notification {
  std::string_view method;
  wire::Json params;
};

using Incoming = std::variant<Request, Notification>;

// Tells a request from a notification. The views in it are valid as long as the document holds this message.
Result<Incoming> ParseEnvelope(wire::Document& document, std::string_view text);

// Returns `{"id":ID,"result":`, to which the caller appends the result and the closing brace.
std::string BeginResult(const RequestId& id);
std::string ErrorMessage(const RequestId& id, const Error& error);

}  // namespace holdfast::rpc
