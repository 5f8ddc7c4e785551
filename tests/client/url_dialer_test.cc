#include "client/url_dialer.h"

#include <chrono>
#include <mutex>
#include <string>
#include <utility>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "client/client_fixture.h"
#include "support/http_server.h"
#include "support/test_socket.h"

namespace holdfast::client {
namespace {

using testing::HasSubstr;
using testing::Not;

// A server that refuses every WebSocket in the same way.
class UrlDialerTest : public ClientTest {
 protected:
  void Refuse(int status, std::string body) {
    status_ = status;
    body_ = std::move(body);
  }

  // Dials the path once. HOST stands for the server in the message.
  Error RefusalAt(std::string_view path, std::string token = "") {
    auto dialer = MakeUrlDialer(loop_, {.url = refusing_.Url(path), .bearer_token = std::move(token)});
    EXPECT_TRUE(dialer) << dialer.error().message;
    const auto dialled = Run((*dialer)->Dial());
    exhausted_ = (*dialer)->exhausted().has_value();
    if (dialled) return {ErrorKind::kInternal, "it was not refused"};
    Error error = dialled.error();
    const size_t at = error.message.find(refusing_.Authority());
    if (at != std::string::npos) error.message.replace(at, refusing_.Authority().size(), "HOST");
    return error;
  }

  int status_ = 404;
  std::string body_;
  bool exhausted_ = false;
  support::HttpServer refusing_{
      [this](const support::HttpArrival&, support::HttpPeer& peer) { peer.Answer(status_, body_); }};
};

TEST_F(UrlDialerTest, SaysThatNoSuchExecutorIsConnected) {
  Refuse(404, "");
  EXPECT_EQ(RefusalAt("/executors/build-7"),
            (Error{ErrorKind::kDisconnected, "no executor named build-7 is connected to HOST"}));
  EXPECT_FALSE(exhausted_);
}

TEST_F(UrlDialerTest, GivesTheReasonOfTheRendezvous) {
  Refuse(503, "no connection waits\n");
  EXPECT_EQ(RefusalAt("/executors/build-7?token=abc").message,
            "the executor build-7 cannot be reached through HOST now: no connection waits");
  Refuse(404, R"({"error":{"code":"unknown","message":"never seen"}})");
  EXPECT_EQ(RefusalAt("/below/executors/build-7").message,
            "no executor named build-7 is connected to HOST: never seen");
  EXPECT_FALSE(exhausted_);
}

TEST_F(UrlDialerTest, ShowsNoReasonThatCouldDeceiveATerminalOrFillIt) {
  Refuse(404, "\x1b[2J" + std::string(100'000, 'x'));
  const std::string message = RefusalAt("/executors/e").message;
  EXPECT_THAT(message, HasSubstr(R"(HOST: \x1b[2Jxx)"));
  EXPECT_LT(message.size(), 300u);
}

TEST_F(UrlDialerTest, ShowsNoTokenThatTheServerRepeats) {
  Refuse(401, "who is sesame-token?");
  const std::string message = RefusalAt("/executors/e", "sesame-token").message;
  EXPECT_EQ(message, "the rendezvous at HOST does not accept the token: who is [token]?");
}

TEST_F(UrlDialerTest, IsExhaustedWhenTheTokenIsRefused) {
  Refuse(401, "");
  EXPECT_EQ(RefusalAt("/executors/e").kind, ErrorKind::kPermissionDenied);
  EXPECT_TRUE(exhausted_);
  Refuse(403, "");
  EXPECT_EQ(RefusalAt("/executors/e"),
            (Error{ErrorKind::kPermissionDenied, "the token may not use the executor e at HOST"}));
  EXPECT_TRUE(exhausted_);
}

TEST_F(UrlDialerTest, DialsAgainAfterAnyOtherRefusal) {
  for (const int status : {404, 429, 500, 502, 503, 504}) {
    Refuse(status, "");
    EXPECT_NE(RefusalAt("/executors/e").message, "");
    EXPECT_FALSE(exhausted_) << status;
  }
}

TEST_F(UrlDialerTest, GivesTheReasonOfAnyServer) {
  Refuse(401, "missing websocket bearer token");
  EXPECT_EQ(RefusalAt("/").message,
            "the server at HOST refused the WebSocket: 401 Whatever: missing websocket bearer token");
}

TEST_F(UrlDialerTest, KnowsWhenATokenCanBeReadOnTheWay) {
  const auto is_readable = [](std::string url, std::string token = "t") {
    return IsTokenReadable({.url = std::move(url), .bearer_token = std::move(token)});
  };
  EXPECT_TRUE(is_readable("http://build.example/executors/e"));
  EXPECT_TRUE(is_readable("ws://192.0.2.1:80"));
  EXPECT_FALSE(is_readable("ws://192.0.2.1:80", ""));
  EXPECT_FALSE(is_readable("https://build.example/executors/e"));
  EXPECT_FALSE(is_readable("wss://build.example"));
  EXPECT_FALSE(is_readable("ws://127.3.2.1:80"));
  EXPECT_FALSE(is_readable("http://[::1]:80/executors/e"));
  EXPECT_FALSE(is_readable("ws://LocalHost:80"));
  EXPECT_FALSE(is_readable("unix:///run/s"));
}

}  // namespace
}  // namespace holdfast::client
