// The answer of a server that agrees to an upgrade (RFC 6455, section 4.2.2), for a WebSocket that Beast does not run.
#pragma once

#include <string>
#include <string_view>

namespace holdfast::transport {

// `key` is the Sec-WebSocket-Key of the request. The answer agrees to no extension and no subprotocol.
std::string UpgradeAnswer(std::string_view key);

}  // namespace holdfast::transport
