// The value of --listen: ws://IP:PORT, unix:///path.sock, stdio or stdio://.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>

#include "base/result.h"

namespace holdfast::transport {

struct WebSocketUrl {
  std::string ip;  // literal IPv4 or IPv6 address, without brackets
  uint16_t port = 0;
  bool loopback = false;
};

struct UnixUrl {
  std::string path;  // absolute
};

struct StdioUrl {};

using ListenUrl = std::variant<WebSocketUrl, UnixUrl, StdioUrl>;

Result<ListenUrl> ParseListenUrl(std::string_view text);

}  // namespace holdfast::transport
