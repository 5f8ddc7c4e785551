// The value of --listen: ws://IP:PORT, wss://IP:PORT, unix:///path.sock, stdio or stdio://. This header is part of the
// interface for programs that embed the server, so the errors of the parser have a type of their own.
#pragma once

#include <cstdint>
#include <expected>
#include <string>
#include <string_view>
#include <variant>

#include "base/result.h"
#include "transport/security.h"

namespace holdfast::transport {

struct WebSocketUrl {
  std::string ip;  // literal IPv4 or IPv6 address, without brackets
  uint16_t port = 0;
  bool loopback = false;
  Security security = Security::kPlain;
};

struct UnixUrl {
  std::string path;  // absolute
};

struct StdioUrl {};

using ListenUrl = std::variant<WebSocketUrl, UnixUrl, StdioUrl>;

struct ListenUrlError {
  enum class Kind {
    kUnknownScheme,
    kNoSocketAddress,  // what follows ws:// or wss:// is not IP:PORT
    kNoAbsolutePath,   // what follows unix:// is not an absolute path
    kPathTooLong,      // the path does not fit into a socket address
  };

  Kind kind;
  std::string message;  // names the text that was parsed, and what to write instead

  explicit operator Error() const { return {ErrorKind::kInvalidParams, message}; }
};

std::expected<ListenUrl, ListenUrlError> ParseListenUrl(std::string_view text);

}  // namespace holdfast::transport
