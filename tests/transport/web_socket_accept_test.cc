#include "transport/web_socket_accept.h"

#include <gtest/gtest.h>

namespace holdfast::transport {
namespace {

// The key and its answer are those of RFC 6455, section 1.3.
TEST(WebSocketAcceptTest, AnswersTheKeyAsTheStandardSays) {
  EXPECT_EQ(UpgradeAnswer("dGhlIHNhbXBsZSBub25jZQ=="),
            "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nServer: holdfast\r\n"
            "Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n\r\n");
}

}  // namespace
}  // namespace holdfast::transport
