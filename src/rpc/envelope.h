// The outermost JSON object of a message. A message with `method` and `id` is a request, with `method` alone a
// notification; everything else is refused, because nothing is ever asked of a client. `jsonrpc`, `trace` and any other
// member are ignored.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>

#include "base/result.h"
#include "wire/json.h"

namespace holdfast::rpc {

using RequestId = std::variant<int64_t, std::string>;

// The id of an answer to something that has none.
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

// The views are valid as long as the document holds this message.
Result<Incoming> ParseEnvelope(wire::Document& document, std::string_view text);

// {"id":ID,"result": -- the caller appends the result and the closing brace.
std::string BeginResult(const RequestId& id);
std::string ErrorMessage(const RequestId& id, const Error& error);

}  // namespace holdfast::rpc
