// A message of the protocol is a JSON object. With `method` and `id` it is a request, with `method` alone it is a
// notification, and without `method` it is a response, which answers the request that has its `id`. `jsonrpc`, `trace`
// and any other member are ignored.
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

struct Response {
  RequestId id;               // kNoRequest if the message has no id that a request could have
  Result<wire::Json> result;  // an error that has a code without a kind of its own names the code in its message
};

using Message = std::variant<Request, Notification, Response>;

// Tells the three kinds of messages apart. The views in the message are valid as long as the document holds it.
Result<Message> ParseMessage(wire::Document& document, std::string_view text);

// Whether messages are written with the member "jsonrpc": "2.0".
enum class Dialect { kBare, kJsonRpc };

// These functions return the beginning of a message, to which the caller appends the params or the result, and the
// closing brace.
std::string BeginRequest(const RequestId& id, std::string_view method, Dialect dialect = Dialect::kBare);
std::string BeginNotification(std::string_view method, Dialect dialect = Dialect::kBare);
std::string BeginResult(const RequestId& id, Dialect dialect = Dialect::kBare);
std::string ErrorMessage(const RequestId& id, const Error& error, Dialect dialect = Dialect::kBare);

// Returns the answer to a message that cannot be read, so that it has no id. JSON-RPC answers with the id null. Clients
// of the bare dialect expect kNoRequest, and do not know the code of kNotJson.
std::string RefusalMessage(const Error& error, Dialect dialect = Dialect::kBare);

}  // namespace holdfast::rpc
