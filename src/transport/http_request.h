// What an HTTP request to the server is worth: a WebSocket upgrade, or an answer. Pure: bytes in, verdict out.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <variant>

namespace holdfast::transport {

inline constexpr size_t kMaxHttpHeadBytes = 8u << 10;

struct Upgrade {
  std::string key;  // the Sec-WebSocket-Key
};

// A complete response, after which the connection closes.
struct HttpAnswer {
  std::string bytes;
};

using HttpVerdict = std::variant<Upgrade, HttpAnswer>;

// `head` is a request up to and including the empty line. With a `secret` only the path `/SECRET` is upgraded, and any
// other gets 401; without one only `/` is. The probes `/readyz` and `/healthz` are open to all.
HttpVerdict JudgeHttpRequest(std::string_view head, std::string_view secret = "");

HttpAnswer AnswerHeadTooLong();
HttpAnswer AnswerServerFull();
HttpAnswer AnswerNotAdmitted();

}  // namespace holdfast::transport
