#include "http/client.h"

#include <unistd.h>

#include <chrono>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "http/client_fixture.h"

namespace holdfast::http {
namespace {

using namespace std::chrono_literals;
using support::EchoRequest;
using support::HttpArrival;
using support::HttpPeer;
using support::HttpServer;
using testing::HasSubstr;
using testing::StartsWith;

class ClientTest : public ClientFixture {
 protected:
  // Makes one request to a server with that script, and waits for its end.
  std::unique_ptr<Asked> AskScript(HttpServer::Script script, std::string method = "GET") {
    HttpServer server(std::move(script));
    url_ = server.Url();
    return Ask({.method = std::move(method), .url = url_});
  }

  std::unique_ptr<Asked> AskBytes(std::string bytes, std::string method = "GET") {
    return AskScript(
        [bytes](const HttpArrival&, HttpPeer& peer) {
          peer.Send(bytes);
          peer.Close();
        },
        std::move(method));
  }

  // Returns the request as the server received it.
  HttpArrival Arrival(Request request) {
    HttpServer server(EchoRequest);
    request.url = server.Url("/x");
    const auto asked = Ask(std::move(request));
    EXPECT_TRUE(asked->succeeded()) << asked->error();
    const auto arrivals = server.arrivals();
    EXPECT_EQ(arrivals.size(), 1u);
    return arrivals.empty() ? HttpArrival() : arrivals[0];
  }

  std::string url_;
};

TEST_F(ClientTest, GetsAResponse) {
  const auto asked = AskScript([](const HttpArrival&, HttpPeer& peer) {
    peer.Answer(404, "not there", "X-One: 1\r\nX-one: 2\r\nX-Empty:\r\n");
  });
  EXPECT_TRUE(asked->succeeded()) << asked->error();
  ASSERT_TRUE(asked->response);
  EXPECT_EQ(asked->response->status, 404);
  EXPECT_EQ(asked->response->headers,
            (std::vector<Header>{{"x-one", "1"}, {"x-one", "2"}, {"x-empty", ""}, {"content-length", "9"}}));
  EXPECT_EQ(asked->body, "not there");
}

TEST_F(ClientTest, SendsNothingThatWasNotAskedFor) {
  const HttpArrival arrival = Arrival({.method = "GET"});
  EXPECT_EQ(arrival.method, "GET");
  EXPECT_EQ(arrival.target, "/x");
  EXPECT_EQ(arrival.headers.size(), 2u);
  EXPECT_THAT(arrival.Header("host").value_or(""), StartsWith("127.0.0.1:"));
  EXPECT_EQ(arrival.Header("accept"), "*/*");
}

TEST_F(ClientTest, SendsABodyWithItsLengthAndNothingMore) {
  for (const char* method : {"POST", "PUT", "GET", "DELETE", "foo"}) {
    const std::string body("a\0b", 3);
    const HttpArrival arrival = Arrival({.method = method, .body = body});
    EXPECT_EQ(arrival.method, method);
    EXPECT_EQ(arrival.body, body);
    EXPECT_EQ(arrival.Header("content-length"), "3");
    EXPECT_EQ(arrival.headers.size(), 3u) << method;  // Host and Accept are the other two
  }
}

TEST_F(ClientTest, SendsALargeBodyWithoutAskingFirst) {
  const std::string body(5u << 20, 'x');
  const HttpArrival arrival = Arrival({.method = "POST", .body = body});
  EXPECT_TRUE(arrival.body == body);
  EXPECT_EQ(arrival.Header("expect"), std::nullopt);
}

TEST_F(ClientTest, AnnouncesAnEmptyBodyWhereServersExpectOne) {
  for (const char* method : {"POST", "PUT", "PATCH"}) {
    EXPECT_EQ(Arrival({.method = method}).Header("content-length"), "0") << method;
    EXPECT_EQ(Arrival({.method = method, .body = ""}).Header("content-length"), "0") << method;
  }
  for (const char* method : {"GET", "DELETE", "OPTIONS", "FOO"}) {
    EXPECT_EQ(Arrival({.method = method, .body = ""}).Header("content-length"), std::nullopt) << method;
  }
}

TEST_F(ClientTest, SendsHeadersAsGiven) {
  const HttpArrival arrival = Arrival({.method = "POST",
                                       .headers = {{"X-A", "1"},
                                                   {"x-a", " 2\t"},
                                                   {"X-Empty", ""},
                                                   {"X-Blank", "  "},
                                                   {"X-Semi", "a;"},
                                                   {"Accept", "text/x"},
                                                   {"User-Agent", "ua"},
                                                   {"Content-Type", "t/x"},
                                                   {"Host", "elsewhere"},
                                                   {"Expect", "100-continue"},
                                                   {"Content-Length", "3"}},
                                       .secret_headers = {{"Authorization", "Bearer \xc3\xa9"}},
                                       .body = "abc"});
  EXPECT_EQ(arrival.Header("x-a"), "1|2");
  EXPECT_EQ(arrival.Header("x-empty"), "");
  EXPECT_EQ(arrival.Header("x-blank"), "");
  EXPECT_EQ(arrival.Header("x-semi"), "a;");
  EXPECT_EQ(arrival.Header("accept"), "text/x");
  EXPECT_EQ(arrival.Header("user-agent"), "ua");
  EXPECT_EQ(arrival.Header("content-type"), "t/x");
  EXPECT_EQ(arrival.Header("host"), "elsewhere");
  EXPECT_EQ(arrival.Header("expect"), std::nullopt);
  EXPECT_EQ(arrival.Header("content-length"), "3");
  EXPECT_EQ(arrival.Header("authorization"), "Bearer \xc3\xa9");
}

TEST_F(ClientTest, SendsTheUrlsUserUnlessTheRequestNamesOne) {
  HttpServer server(EchoRequest);
  const std::string url = "http://us%65r:p%40ss@" + server.Authority() + "/x";
  EXPECT_THAT(Ask(Get(url))->body, HasSubstr("\nauthorization: Basic dXNlcjpwQHNz\n"));
  EXPECT_THAT(Ask({.method = "GET", .url = url, .headers = {{"authorization", "Bearer z"}}})->body,
              HasSubstr("\nauthorization: Bearer z\n"));
  EXPECT_THAT(Ask(Get("http://user@" + server.Authority()))->body, HasSubstr("\nauthorization: Basic dXNlcjo=\n"));
}

TEST_F(ClientTest, SendsPathAndQueryWithoutDotsAndFragment) {
  HttpServer server(EchoRequest);
  EXPECT_THAT(Ask(Get(server.Url("/a/../b c?d=/../e#f")))->body, StartsWith("GET /b%20c?d=/../e\n"));
}

TEST_F(ClientTest, ReadsNoBodyAfterHead) {
  const auto asked = AskScript(
      [](const HttpArrival&, HttpPeer& peer) { peer.Send("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n"); }, "HEAD");
  EXPECT_TRUE(asked->succeeded()) << asked->error();
  EXPECT_EQ(asked->Header("content-length"), "9");
  EXPECT_EQ(asked->body, "");
}

TEST_F(ClientTest, ReadsNoBodyWhereThereIsNone) {
  for (const char* status : {"204 No Content", "304 Not Modified"}) {
    const auto asked = AskBytes(std::string("HTTP/1.1 ") + status + "\r\nX-A: 1\r\n\r\n");
    EXPECT_TRUE(asked->succeeded()) << asked->error();
    EXPECT_EQ(asked->body, "");
  }
}

TEST_F(ClientTest, JoinsChunksAndPassesOverTrailers) {
  const auto asked = AskBytes(
      "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n4;x=y\r\ndefg\r\n0\r\nX-Trailer: 1\r\n\r\n");
  EXPECT_TRUE(asked->succeeded()) << asked->error();
  EXPECT_EQ(asked->body, "abcdefg");
  EXPECT_EQ(asked->response->headers, (std::vector<Header>{{"transfer-encoding", "chunked"}}));
}

TEST_F(ClientTest, LeavesTheBodyEncodedAsItIs) {
  const auto asked = AskBytes("HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 4\r\n\r\nnogz");
  EXPECT_TRUE(asked->succeeded()) << asked->error();
  EXPECT_EQ(asked->body, "nogz");
}

TEST_F(ClientTest, PassesOverInterimResponses) {
  const auto asked = AskBytes(
      "HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\nHTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nX-A: "
      "1\r\nContent-Length: 2\r\n\r\nok");
  EXPECT_TRUE(asked->succeeded()) << asked->error();
  EXPECT_EQ(asked->response->status, 200);
  EXPECT_EQ(asked->response->headers, (std::vector<Header>{{"x-a", "1"}, {"content-length", "2"}}));
  EXPECT_EQ(asked->body, "ok");
}

TEST_F(ClientTest, UnderstandsOldServers) {
  const auto asked = AskBytes("HTTP/1.0 299 Weird\r\nX-Bin: \xff\xfe\r\n\r\nuntil the end");
  EXPECT_TRUE(asked->succeeded()) << asked->error();
  EXPECT_EQ(asked->response->status, 299);
  EXPECT_EQ(asked->Header("x-bin"), "\xff\xfe");
  EXPECT_EQ(asked->body, "until the end");
}

TEST_F(ClientTest, FailsWhenThereIsNoResponse) {
  for (const char* bytes : {"", "not http\r\n\r\n", "HTTP/1.1 99 X\r\n\r\n", "HTTP/1.1 200 OK\r\nX-Cut: sh",
                            "HTTP/1.1 100 Continue\r\n\r\n", "HTTP/1.1 101 Switching\r\nUpgrade: x\r\n\r\nbytes"}) {
    const auto asked = AskBytes(bytes);
    EXPECT_FALSE(asked->response) << bytes;
    EXPECT_THAT(asked->error(), StartsWith("http/request GET " + url_ + ": ")) << bytes;
    EXPECT_EQ(asked->outcome->error().kind, ErrorKind::kSystem);
  }
}

TEST_F(ClientTest, FailsWhenTheBodyIsCutShort) {
  for (const char* bytes : {"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\npartial",
                            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n7\r\npartial\r\n"}) {
    const auto asked = AskBytes(bytes);
    EXPECT_TRUE(asked->response);
    EXPECT_EQ(asked->body, "partial");
    EXPECT_THAT(asked->error(), StartsWith("http/request GET " + url_ + ": ")) << bytes;
  }
}

TEST_F(ClientTest, FailsWhenTheHeadersNeverEnd) {
  const auto asked = AskScript([](const HttpArrival&, HttpPeer& peer) {
    peer.Send("HTTP/1.1 200 OK\r\n");
    while (peer.Send("X-More: " + std::string(1000, 'x') + "\r\n")) {
    }
  });
  EXPECT_FALSE(asked->response);
  EXPECT_EQ(asked->error(), "http/request GET " + url_ + ": the response's headers are too large");
}

TEST_F(ClientTest, ShowsNoSecretsInMessages) {
  std::string port;
  {
    const HttpServer server(EchoRequest);
    port = std::to_string(server.port());
  }
  const auto asked = Ask(Get("http://user:pass@127.0.0.1:" + port + "/path?token=secret"));
  EXPECT_THAT(asked->error(), StartsWith("http/request GET http://127.0.0.1:" + port + "/path: "));
}

TEST_F(ClientTest, TimesOutWaitingForHeaders) {
  HttpServer server([](const HttpArrival&, HttpPeer& peer) { peer.AwaitHangUp(); });
  const auto asked = Ask({.method = "GET", .url = server.Url(), .timeout = 50ms});
  EXPECT_FALSE(asked->response);
  EXPECT_EQ(asked->error(), "http/request GET " + server.Url() + ": timed out after 50 ms");
  EXPECT_EQ(asked->outcome->error().kind, ErrorKind::kSystem);
}

TEST_F(ClientTest, TimesOutInTheBody) {
  HttpServer server([](const HttpArrival&, HttpPeer& peer) {
    peer.Send("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nfirst");
    peer.AwaitHangUp();
  });
  EXPECT_THAT(Ask(Get("http://127.0.0.1:1/"))->error(), HasSubstr("connect"));  // loads the library
  const auto asked = Ask({.method = "GET", .url = server.Url(), .timeout = 3000ms});
  EXPECT_TRUE(asked->response);
  EXPECT_EQ(asked->body, "first");
  EXPECT_THAT(asked->error(), HasSubstr("timed out after 3000 ms"));
}

TEST_F(ClientTest, TimesOutAtOnceWithoutTime) {
  HttpServer server([](const HttpArrival&, HttpPeer& peer) { peer.AwaitHangUp(); });
  EXPECT_THAT(Ask({.method = "GET", .url = server.Url(), .timeout = 0ms})->error(), HasSubstr("timed out after 0 ms"));
}

TEST_F(ClientTest, TakesTheLongestTimeout) {
  HttpServer server(EchoRequest);
  const auto asked = Ask({.method = "GET", .url = server.Url(), .timeout = std::chrono::milliseconds::max()});
  EXPECT_TRUE(asked->succeeded()) << asked->error();
}

TEST_F(ClientTest, SaysWhyThereIsNoLibrary) {
  Restart({.library = "libno-such-curl.so.4"});
  for (int i = 0; i < 2; ++i) {
    const auto asked = Ask(Get("http://127.0.0.1:1/"));
    EXPECT_THAT(asked->error(),
                StartsWith("http/request needs libno-such-curl.so.4: libno-such-curl.so.4: cannot open"));
  }
}

TEST_F(ClientTest, SaysThatTheLibraryIsAnother) {
  Restart({.library = "libc.so.6"});
  EXPECT_EQ(Ask(Get("http://127.0.0.1:1/"))->error(), "http/request needs libc.so.6: it has no curl_easy_init");
}

TEST_F(ClientTest, ResolvesNames) {
  char name[256];
  ASSERT_EQ(::gethostname(name, sizeof(name)), 0);
  HttpServer server(EchoRequest);
  const std::string url = std::string("http://") + name + ":" + std::to_string(server.port()) + "/";
  for (int i = 0; i < 3; ++i) {
    const auto asked = Ask({.method = "GET", .url = url, .timeout = 5s});
    if (!asked->succeeded()) GTEST_SKIP() << "the name of this machine is not its loopback: " << asked->error();
    EXPECT_THAT(asked->body, HasSubstr(std::string("host: ") + name));
    Restart({});
  }
}

}  // namespace
}  // namespace holdfast::http
