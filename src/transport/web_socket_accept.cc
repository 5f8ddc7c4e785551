// The deprecated functions of OpenSSL are used for the reason that base/sha256.cc gives. SHA1() is not one of them.
#define OPENSSL_SUPPRESS_DEPRECATED
#include "transport/web_socket_accept.h"

#include <openssl/sha.h>

#include <array>
#include <cstddef>
#include <span>

#include <fmt/format.h>

#include "base/base64.h"

namespace holdfast::transport {
namespace {

constexpr std::string_view kProtocolId = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11";  // the same for every server

}  // namespace

std::string UpgradeAnswer(std::string_view key) {
  const std::string text = fmt::format("{}{}", key, kProtocolId);
  std::array<unsigned char, SHA_DIGEST_LENGTH> digest;
  SHA_CTX context;
  (void)::SHA1_Init(&context);  // none of the three can fail
  (void)::SHA1_Update(&context, text.data(), text.size());
  (void)::SHA1_Final(digest.data(), &context);
  return fmt::format(
      "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nServer: holdfast\r\n"
      "Sec-WebSocket-Accept: {}\r\n\r\n",
      Base64Encode(std::as_bytes(std::span(digest))));
}

}  // namespace holdfast::transport
