#include <poll.h>

#include <chrono>
#include <cstdlib>
#include <string>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "http/client_fixture.h"
#include "http/transfer.h"

namespace holdfast::http {
namespace {

using namespace std::chrono_literals;
using support::EchoRequest;
using support::HttpArrival;
using support::HttpPeer;
using support::HttpServer;
using testing::HasSubstr;
using testing::StartsWith;

// The script answers "/STATUS/anything" with that status and `location`, and other targets with an echo.
HttpServer::Script RedirectTo(std::string location) {
  return [location](const HttpArrival& arrival, HttpPeer& peer) {
    const int status = std::atoi(arrival.target.substr(1).c_str());
    if (status == 0) return EchoRequest(arrival, peer);
    peer.Answer(status, "moved", "Location: " + location + "\r\n");
  };
}

// The script redirects "/N" to "/N-1" and answers "/0".
void CountDown(const HttpArrival& arrival, HttpPeer& peer) {
  const int left = std::atoi(arrival.target.substr(1).c_str());
  if (left == 0) {
    peer.Answer(200, "end");
  } else {
    peer.Answer(302, "", fmt::format("Location: /{}\r\n", left - 1));
  }
}

class ClientRedirectTest : public ClientFixture {};

TEST_F(ClientRedirectTest, FollowsToTheFinalResponse) {
  HttpServer server(RedirectTo("/echo"));
  const auto asked = Ask({.method = "POST",
                          .url = server.Url("/302"),
                          .headers = {{"X-K", "1"}, {"Content-Type", "t/x"}},
                          .secret_headers = {{"Authorization", "A"}},
                          .body = "abc"});
  EXPECT_TRUE(asked->succeeded()) << asked->error();
  EXPECT_EQ(asked->response->status, 200);
  EXPECT_THAT(asked->body, StartsWith("GET /echo\n"));
  const HttpArrival last = server.arrivals().back();
  EXPECT_EQ(last.Header("x-k"), "1");
  EXPECT_EQ(last.Header("authorization"), "A");
  EXPECT_EQ(last.Header("content-type"), std::nullopt);
  EXPECT_EQ(last.Header("content-length"), std::nullopt);
  EXPECT_EQ(last.Header("referer"), std::nullopt);
  EXPECT_EQ(server.connections(), 1u);
}

TEST_F(ClientRedirectTest, RepeatsTheBodyWhereItMust) {
  HttpServer server(RedirectTo("/echo"));
  const auto asked = Ask({.method = "POST", .url = server.Url("/308"), .body = "abc"});
  EXPECT_TRUE(asked->succeeded()) << asked->error();
  EXPECT_THAT(asked->body, StartsWith("POST /echo\n"));
  EXPECT_EQ(server.arrivals().back().body, "abc");
}

TEST_F(ClientRedirectTest, KeepsHead) {
  HttpServer server(RedirectTo("/echo"));
  const auto asked = Ask({.method = "HEAD", .url = server.Url("/303"), .redirects = Redirects::kFollow});
  EXPECT_TRUE(asked->succeeded()) << asked->error();
  EXPECT_EQ(asked->response->status, 200);
  EXPECT_EQ(server.arrivals().back().method, "HEAD");
}

TEST_F(ClientRedirectTest, StopsWhenTold) {
  HttpServer server(RedirectTo("/echo"));
  const auto asked = Ask({.method = "GET", .url = server.Url("/302"), .redirects = Redirects::kStop});
  EXPECT_TRUE(asked->succeeded()) << asked->error();
  EXPECT_EQ(asked->response->status, 302);
  EXPECT_EQ(asked->Header("location"), "/echo");
  EXPECT_EQ(asked->body, "moved");
  EXPECT_EQ(server.arrivals().size(), 1u);
}

TEST_F(ClientRedirectTest, TellsNoSecretsToAnotherServer) {
  HttpServer other(EchoRequest);
  HttpServer server(RedirectTo(other.Url("/there")));
  const auto asked = Ask({.method = "POST",
                          .url = "http://user:pass@" + server.Authority() + "/307",
                          .headers = {{"Cookie", "c=1"}, {"X-K", "1"}, {"Host", "named"}},
                          .secret_headers = {{"X-Token", "t"}},
                          .body = "abc"});
  EXPECT_TRUE(asked->succeeded()) << asked->error();
  const HttpArrival first = server.arrivals().at(0);
  EXPECT_EQ(first.Header("cookie"), "c=1");
  EXPECT_EQ(first.Header("x-token"), "t");
  EXPECT_EQ(first.Header("host"), "named");
  EXPECT_EQ(first.Header("authorization"), "Basic dXNlcjpwYXNz");
  const HttpArrival second = other.arrivals().at(0);
  EXPECT_EQ(second.Header("cookie"), std::nullopt);
  EXPECT_EQ(second.Header("x-token"), std::nullopt);
  EXPECT_EQ(second.Header("authorization"), std::nullopt);
  EXPECT_EQ(second.Header("host"), other.Authority());
  EXPECT_EQ(second.Header("x-k"), "1");
  EXPECT_EQ(second.body, "abc");
}

TEST_F(ClientRedirectTest, TakesNoUserFromTheServer) {
  HttpServer other(EchoRequest);
  HttpServer server(RedirectTo("http://u:p@" + other.Authority() + "/"));
  EXPECT_TRUE(Ask(Get(server.Url("/302")))->succeeded());
  EXPECT_EQ(other.arrivals().at(0).Header("authorization"), std::nullopt);
}

TEST_F(ClientRedirectTest, FollowsTenAndNoMore) {
  HttpServer server(CountDown);
  const auto ten = Ask(Get(server.Url("/10")));
  EXPECT_TRUE(ten->succeeded()) << ten->error();
  EXPECT_EQ(ten->body, "end");
  const auto eleven = Ask(Get(server.Url("/11")));
  EXPECT_FALSE(eleven->response);
  EXPECT_EQ(eleven->error(), "http/request GET " + server.Url("/1") + ": too many redirects");
  EXPECT_EQ(eleven->outcome->error().kind, ErrorKind::kSystem);
  EXPECT_EQ(server.arrivals().size(), 22u);
}

TEST_F(ClientRedirectTest, RefusesTargetsThatAreNotHttp) {
  HttpServer server(RedirectTo("file:///etc/passwd"));
  const auto asked = Ask(Get(server.Url("/302")));
  EXPECT_FALSE(asked->response);
  EXPECT_THAT(asked->error(), HasSubstr("redirect target uses unsupported URL scheme: file"));
}

TEST_F(ClientRedirectTest, PassesOnWhatLeadsNowhere) {
  HttpServer bad(RedirectTo("http://:::"));
  EXPECT_EQ(Ask(Get(bad.Url("/302")))->response.value().status, 302);
  HttpServer not_a_redirect(RedirectTo("/echo"));
  EXPECT_EQ(Ask(Get(not_a_redirect.Url("/300")))->response.value().status, 300);
  HttpServer nowhere([](const HttpArrival&, HttpPeer& peer) { peer.Answer(302, "stay"); });
  EXPECT_EQ(Ask(Get(nowhere.Url()))->body, "stay");
}

TEST_F(ClientRedirectTest, NamesTheServerThatFailed) {
  std::string gone;
  {
    const HttpServer other(EchoRequest);
    gone = other.Url("/x?y");
  }
  HttpServer server(RedirectTo(gone));
  const auto asked = Ask(Get(server.Url("/302")));
  EXPECT_THAT(asked->error(), StartsWith("http/request GET " + gone.substr(0, gone.size() - 2) + ": "));
}

TEST_F(ClientRedirectTest, DropsAConnectionThatGoesOnAndOn) {
  HttpServer server([](const HttpArrival& arrival, HttpPeer& peer) {
    if (arrival.target != "/endless") return EchoRequest(arrival, peer);
    peer.Send("HTTP/1.1 302 Found\r\nLocation: /echo\r\n\r\n");
    while (peer.Send(std::string(64u << 10, 'x'))) {
    }
  });
  const auto asked = Ask(Get(server.Url("/endless")));
  EXPECT_TRUE(asked->succeeded()) << asked->error();
  EXPECT_THAT(asked->body, StartsWith("GET /echo\n"));
  EXPECT_EQ(server.connections(), 2u);
}

TEST_F(ClientRedirectTest, KeepsAConnectionWhoseBodyWasShortEnough) {
  HttpServer server([](const HttpArrival& arrival, HttpPeer& peer) {
    if (arrival.target != "/long") return EchoRequest(arrival, peer);
    peer.Answer(302, std::string(Transfer::kMaxDiscardedBytes - 1, 'x'), "Location: /echo\r\n");
  });
  const auto asked = Ask(Get(server.Url("/long")));
  EXPECT_TRUE(asked->succeeded()) << asked->error();
  EXPECT_EQ(server.connections(), 1u);
}

TEST_F(ClientRedirectTest, FollowsWhenTheBodyIsCutShort) {
  HttpServer server([](const HttpArrival& arrival, HttpPeer& peer) {
    if (arrival.target != "/cut") return EchoRequest(arrival, peer);
    peer.Send("HTTP/1.1 302 Found\r\nLocation: /echo\r\nContent-Length: 9\r\n\r\nx");
    peer.Close();
  });
  const auto asked = Ask(Get(server.Url("/cut")));
  EXPECT_TRUE(asked->succeeded()) << asked->error();
}

TEST_F(ClientRedirectTest, TimesOutOverTheWholeChain) {
  HttpServer server([](const HttpArrival&, HttpPeer& peer) {
    pollfd nothing{.fd = peer.fd(), .events = POLLRDHUP, .revents = 0};
    ::poll(&nothing, 1, 500);  // the timeout comes before there are too many redirects
    peer.Answer(302, "", "Location: /again\r\n");
  });
  EXPECT_THAT(Ask(Get("http://127.0.0.1:1/"))->error(), HasSubstr("connect"));  // loads the library
  const auto asked = Ask({.method = "GET", .url = server.Url(), .timeout = 3000ms});
  EXPECT_FALSE(asked->response);
  EXPECT_THAT(asked->error(), HasSubstr("timed out after 3000 ms"));
  EXPECT_GT(server.arrivals().size(), 1u);
}

}  // namespace
}  // namespace holdfast::http
