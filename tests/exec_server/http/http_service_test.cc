#include "exec_server/http/http_service.h"

#include <algorithm>
#include <latch>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "exec_server/http/http_fixture.h"

namespace holdfast::exec_server {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::SizeIs;
using testing::StartsWith;

std::string Header(std::string_view name, std::string_view value, std::string_view more = "") {
  return fmt::format(R"({{"name":{},"value":{}{}{}}})", support::Quoted(name), support::Quoted(value),
                     more.empty() ? "" : ",", more);
}

std::string Headers(std::string_view list) { return fmt::format(R"("headers":[{}])", list); }

// Returns a header whose value is `value` followed by the value of the variable.
std::string FromVariable(std::string_view name, std::string_view value, std::string_view variable) {
  return Header(name, value, R"("valueEnvVar":)" + support::Quoted(variable));
}

std::string Body(std::string_view bytes) { return fmt::format(R"("bodyBase64":"{}")", support::Base64(bytes)); }

// Returns a script that redirects every request to `location`, except one for "/end".
HttpServer::Script RedirectTo(std::string location) {
  return [location](const HttpArrival& arrival, HttpPeer& peer) {
    if (arrival.target == "/end") return EchoRequest(arrival, peer);
    peer.Answer(302, "moved", "Location: " + location + "\r\n");
  };
}

class HttpServiceTest : public HttpFixture {};

TEST_F(HttpServiceTest, AnswersWithStatusHeadersAndBody) {
  const std::string body("\0\xff\r\n\x80text", 9);
  HttpServer server([&](const HttpArrival&, HttpPeer& peer) {
    peer.Answer(418, body, "Set-Cookie: a=1\r\nX-Other:\r\nSet-Cookie: b=2\r\n");
  });
  const Message answer = Request(Get(server.Url()));
  EXPECT_EQ(answer.Number("result.status"), 418);
  EXPECT_THAT(HeadersOf(answer), ElementsAre("set-cookie: a=1", "x-other: ", "set-cookie: b=2", "content-length: 9"));
  EXPECT_EQ(answer.Bytes("result.bodyBase64"), body);
}

TEST_F(HttpServiceTest, AnswersWithoutABody) {
  HttpServer server([](const HttpArrival&, HttpPeer& peer) { peer.Send("HTTP/1.1 204 No Content\r\n\r\n"); });
  const Message answer = Request(Get(server.Url()));
  EXPECT_EQ(answer.Number("result.status"), 204);
  EXPECT_THAT(HeadersOf(answer), IsEmpty());
  EXPECT_EQ(answer.Text("result.bodyBase64"), "");
}

TEST_F(HttpServiceTest, AnswersWithTheBodyAsItWasEncoded) {
  const std::string zipped = "\x1f\x8b no gzip";
  HttpServer server(
      [&](const HttpArrival&, HttpPeer& peer) { peer.Answer(200, zipped, "Content-Encoding: gzip\r\n"); });
  EXPECT_EQ(Request(Get(server.Url())).Bytes("result.bodyBase64"), zipped);
  EXPECT_EQ(server.arrivals().at(0).Header("accept-encoding"), std::nullopt);
}

TEST_F(HttpServiceTest, SendsMethodHeadersAndBody) {
  HttpServer server(EchoRequest);
  const std::string body("\0\xff\r\n", 4);
  const std::string headers = Headers(Header("X-Twice", "1") + "," + Header("x-twice", "2") + "," +
                                      Header("X-Text", "caf\xc3\xa9\tb") + "," + Header("X-Empty", ""));
  EXPECT_EQ(Request(Params("PROPFIND", server.Url("/a?b"), headers + "," + Body(body))).Number("result.status"), 200);
  const HttpArrival arrival = server.arrivals().at(0);
  EXPECT_EQ(arrival.method, "PROPFIND");
  EXPECT_EQ(arrival.target, "/a?b");
  EXPECT_EQ(arrival.Header("x-twice"), "1|2");
  EXPECT_EQ(arrival.Header("x-text"), "caf\xc3\xa9\tb");
  EXPECT_EQ(arrival.Header("x-empty"), "");
  EXPECT_EQ(arrival.body, body);
}

TEST_F(HttpServiceTest, SendsNoBodyWhereThereIsNone) {
  HttpServer server(EchoRequest);
  for (const char* body : {"", R"("bodyBase64":null)", R"("bodyBase64":"")"}) {
    EXPECT_EQ(CodeOf(Get(server.Url(), body)), 0);
    EXPECT_EQ(server.arrivals().back().Header("content-length"), std::nullopt) << body;
  }
}

TEST_F(HttpServiceTest, ShowsHeadersThatAreNoTextAsNearToItAsCanBe) {
  HttpServer server([](const HttpArrival&, HttpPeer& peer) {
    peer.Answer(200, "", "X-Latin: caf\xe9\r\nX-Text: caf\xc3\xa9\r\nX-Cut: \xe2\x82\r\nX-Quoted: \"\\\t\x01\r\n");
  });
  EXPECT_THAT(HeadersOf(Request(Get(server.Url()))),
              ElementsAre("x-latin: caf\xEF\xBF\xBD", "x-text: caf\xc3\xa9", "x-cut: \xEF\xBF\xBD\xEF\xBF\xBD",
                          "x-quoted: \"\\\t\x01", "content-length: 0"));
}

TEST_F(HttpServiceTest, TakesHeadersFromItsEnvironment) {
  HttpServer server(EchoRequest);
  const std::string headers = Headers(FromVariable("Authorization", "Bearer ", "HOLDFAST_TEST_TOKEN") + "," +
                                      FromVariable("X-Token", "", "HOLDFAST_TEST_TOKEN") + "," +
                                      Header("X-Plain", "HOLDFAST_TEST_TOKEN", R"("valueEnvVar":null)"));
  EXPECT_EQ(CodeOf(Get(server.Url(), headers)), 0);
  const HttpArrival arrival = server.arrivals().at(0);
  EXPECT_EQ(arrival.Header("authorization"), "Bearer s3cret");
  EXPECT_EQ(arrival.Header("x-token"), "s3cret");
  EXPECT_EQ(arrival.Header("x-plain"), "HOLDFAST_TEST_TOKEN");
}

TEST_F(HttpServiceTest, RefusesVariablesThatMakeNoHeader) {
  HttpServer server(EchoRequest);
  for (const char* variable : {"HOLDFAST_TEST_UNSET", "HOLDFAST_TEST_EMPTY", "HOLDFAST_TEST_LINES", "",
                               "HOLDFAST_TEST_TOKEN=s3cret", "holdfast_test_token"}) {
    const Message answer = Request(Get(server.Url(), Headers(FromVariable("X-Token", "value", variable))));
    EXPECT_EQ(answer.error_code(), -32602) << variable;
    EXPECT_THAT(answer.Text("error.message"), HasSubstr("X-Token")) << variable;
    if (std::string_view(variable).ends_with("LINES")) {
      EXPECT_THAT(answer.Text("error.message"), Not(HasSubstr("s3cret")));
    }
  }
  EXPECT_EQ(CodeOf(Get(server.Url(), R"("headers":[{"name":"X","valueEnvVar":"HOLDFAST_TEST_TOKEN"}])")), -32602);
  EXPECT_THAT(server.arrivals(), IsEmpty());
}

TEST_F(HttpServiceTest, TellsItsEnvironmentToNoOtherServer) {
  HttpServer other(EchoRequest);
  HttpServer server(RedirectTo(other.Url("/end")));
  const std::string headers =
      Headers(FromVariable("X-Token", "", "HOLDFAST_TEST_TOKEN") + "," + Header("X-Plain", "plain"));
  EXPECT_EQ(CodeOf(Get(server.Url("/"), headers)), 0);
  EXPECT_EQ(server.arrivals().at(0).Header("x-token"), "s3cret");
  EXPECT_EQ(other.arrivals().at(0).Header("x-token"), std::nullopt);
  EXPECT_EQ(other.arrivals().at(0).Header("x-plain"), "plain");
}

TEST_F(HttpServiceTest, KeepsItsSecretsOnARedirectWithinTheServer) {
  HttpServer server(RedirectTo("/end"));
  EXPECT_EQ(CodeOf(Get(server.Url("/"), Headers(FromVariable("X-Token", "", "HOLDFAST_TEST_TOKEN")))), 0);
  ASSERT_THAT(server.arrivals(), SizeIs(2));
  EXPECT_EQ(server.arrivals().at(1).Header("x-token"), "s3cret");
}

TEST_F(HttpServiceTest, FollowsRedirectsUnlessToldOtherwise) {
  HttpServer server(RedirectTo("/end"));
  for (const char* policy : {"", R"("redirectPolicy":"follow")"}) {
    const Message followed = Request(Get(server.Url("/"), policy));
    EXPECT_EQ(followed.Number("result.status"), 200);
    EXPECT_THAT(followed.Bytes("result.bodyBase64"), StartsWith("GET /end\n"));
  }
  const Message stopped = Request(Get(server.Url("/"), R"("redirectPolicy":"stop")"));
  EXPECT_EQ(stopped.Number("result.status"), 302);
  EXPECT_EQ(stopped.Bytes("result.bodyBase64"), "moved");
  EXPECT_THAT(HeadersOf(stopped), testing::Contains("location: /end"));
}

TEST_F(HttpServiceTest, RefusesWhatIsNoRequest) {
  HttpServer server(EchoRequest);
  for (const char* method : {"", "GE T", "GET\r\nX: 1", "G\xc3\xa9T", "GET/", "CONNECT"}) {
    EXPECT_EQ(CodeOf(Params(method, server.Url())), -32602) << method;
  }
  for (const char* url : {"", "127.0.0.1", "/path", "http://", "http://127.0.0.1:99999/", "http://a b/",
                          "ftp://127.0.0.1/", "file:///etc/passwd", "ws://127.0.0.1/", "data:,x"}) {
    EXPECT_EQ(CodeOf(Get(url)), -32602) << url;
  }
  for (const char* name : {"", "bad name", "X:", "X\r\nY", "caf\xc3\xa9", "Connection", "keep-alive", "TE", "Trailer",
                           "Transfer-Encoding", "Upgrade", "Proxy-Authorization", "Content-Length"}) {
    EXPECT_EQ(CodeOf(Get(server.Url(), Headers(Header(name, "x")))), -32602) << name;
  }
  for (const std::string_view value : {"a\rb", "a\nb", "a\r\nX-More: 1", "a\x7f"}) {
    EXPECT_EQ(CodeOf(Get(server.Url(), Headers(Header("X", value)))), -32602) << value;
  }
  EXPECT_EQ(CodeOf(Get(server.Url(), Headers(R"({"name":"X","value":"a\u0000b"})"))), -32602);
  EXPECT_EQ(CodeOf(Params("HEAD", server.Url(), Body("x"))), -32602);
  EXPECT_THAT(server.arrivals(), IsEmpty());
}

TEST_F(HttpServiceTest, RefusesMembersThatAreNotWhatTheyShouldBe) {
  HttpServer server(EchoRequest);
  for (const char* more : {R"("bodyBase64":"YQ")",
                           R"("bodyBase64":"Y Q==")",
                           R"("bodyBase64":"YR==")",
                           R"("bodyBase64":"_-8=")",
                           R"("bodyBase64":1)",
                           R"("redirectPolicy":"Follow")",
                           R"("redirectPolicy":"")",
                           R"("redirectPolicy":1)",
                           R"("timeoutMs":-1)",
                           R"("timeoutMs":1.5)",
                           R"("timeoutMs":"5")",
                           R"("streamResponse":null)",
                           R"("streamResponse":"x")",
                           R"("headers":null)",
                           R"("headers":{})",
                           R"("headers":[1])",
                           R"("headers":[{"name":"X"}])",
                           R"("headers":[{"value":"x"}])",
                           R"("headers":[{"name":"X","value":null}])",
                           R"("headers":[{"name":"X","value":"x","valueEnvVar":1}])"}) {
    EXPECT_EQ(CodeOf(Get(server.Url(), more)), -32602) << more;
  }
  for (const char* params :
       {"null", "{}", R"({"requestId":"r","method":"GET"})", R"({"requestId":"r","url":"http://a/"})",
        R"({"method":"GET","url":"http://a/"})", R"({"requestId":null,"method":"GET","url":"x"})",
        R"({"requestId":1,"method":"GET","url":"http://a/"})"}) {
    EXPECT_EQ(CodeOf(params), -32602) << params;
  }
  EXPECT_THAT(server.arrivals(), IsEmpty());
}

TEST_F(HttpServiceTest, NamesTheServerThatDoesNotAnswer) {
  const Message answer = Request(Get(std::string(kNobody) + "path"));
  EXPECT_EQ(answer.error_code(), -32603);
  EXPECT_THAT(answer.Text("error.message"), StartsWith("http/request GET http://127.0.0.1:1/path: "));
}

TEST_F(HttpServiceTest, FailsWithTheServer) {
  HttpServer garbage([](const HttpArrival&, HttpPeer& peer) {
    peer.Send("what?\r\n\r\n");
    peer.Close();
  });
  HttpServer closing([](const HttpArrival&, HttpPeer& peer) { peer.Close(); });
  HttpServer dying(DieHalfway);
  HttpServer leaving(RedirectTo("ftp://127.0.0.1/"));
  HttpServer circling(RedirectTo("/again"));
  for (const HttpServer* server : {&garbage, &closing, &dying, &leaving, &circling}) {
    EXPECT_EQ(CodeOf(Get(server->Url())), -32603);
  }
}

TEST_F(HttpServiceTest, GivesUpAfterTheTimeAllowed) {
  HttpServer silent(SayNothing), slow(SayHalf);
  for (const HttpServer* server : {&silent, &slow}) {
    const Message answer = Request(Get(server->Url(), R"("timeoutMs":50)"));
    EXPECT_EQ(answer.error_code(), -32603);
    EXPECT_THAT(answer.Text("error.message"), HasSubstr("timed out after 50 ms"));
    EXPECT_TRUE(RunUntilHangUp(*server));
  }
  EXPECT_EQ(CodeOf(Get(silent.Url(), R"("timeoutMs":0)")), -32603);
}

TEST_F(HttpServiceTest, TakesAnyTimeout) {
  HttpServer server(EchoRequest);
  for (const char* timeout : {"null", "60000", "18446744073709551615"}) {
    EXPECT_EQ(CodeOf(Get(server.Url(), fmt::format(R"("timeoutMs":{})", timeout))), 0) << timeout;
  }
}

TEST_F(HttpServiceTest, TakesNoLongerBodyThanConfigured) {
  config_.max_http_body_bytes = 1000;
  Boot();
  HttpServer server([](const HttpArrival& arrival, HttpPeer& peer) {
    peer.Answer(200, std::string(arrival.target == "/fits" ? 1000 : 1001, 'x'));
  });
  HttpServer endless(Flood);
  EXPECT_EQ(Request(Get(server.Url("/fits"))).Bytes("result.bodyBase64"), std::string(1000, 'x'));
  for (const std::string& url : {server.Url("/longer"), endless.Url()}) {
    const Message answer = Request(Get(url));
    EXPECT_EQ(answer.error_code(), -32603) << url;
    EXPECT_THAT(answer.Text("error.message"), AllOf(HasSubstr("1000 bytes"), HasSubstr("stream")));
  }
  EXPECT_TRUE(RunUntilHangUp(endless));
}

TEST_F(HttpServiceTest, TakesNoLongerBodyThanTheClientDoes) {
  constexpr size_t kMessageBytes = 1u << 20;
  HttpServer server([](const HttpArrival& arrival, HttpPeer& peer) {
    peer.Answer(200, std::string(arrival.target == "/fits" ? kMessageBytes / 2 : kMessageBytes * 3 / 4, 'x'));
  });
  ConnectReady(fmt::format(R"(,"capabilities":{{"maxMessageBytes":{}}})", kMessageBytes));
  EXPECT_EQ(CodeOf(Get(server.Url("/fits"))), 0);
  EXPECT_EQ(CodeOf(Get(server.Url("/longer"))), -32603);
  for (const std::string& message : Me().sent()) EXPECT_LE(message.size(), kMessageBytes);
}

TEST_F(HttpServiceTest, RunsManyAtOnce) {
  constexpr size_t kMany = 20;
  std::latch all_have_asked(1);
  HttpServer server([&](const HttpArrival& arrival, HttpPeer& peer) {
    all_have_asked.wait();
    EchoRequest(arrival, peer);
  });
  std::vector<int> ids;
  for (size_t i = 0; i < kMany; ++i) ids.push_back(Me().Ask("http/request", Get(server.Url(fmt::format("/{}", i)))));
  EXPECT_TRUE(RunUntil([&] { return server.arrivals().size() == kMany; }));
  all_have_asked.count_down();
  for (size_t i = 0; i < kMany; ++i) {
    EXPECT_TRUE(RunUntilAnswered(Me(), ids[i]));
    EXPECT_THAT(Me().AnswerTo(ids[i]).value_or(Message()).Bytes("result.bodyBase64"),
                StartsWith(fmt::format("GET /{}\n", i)));
  }
}

TEST_F(HttpServiceTest, RunsNoMoreThan256OfAConnection) {
  const auto failed = [&] {
    return std::ranges::count_if(Me().sent(), [](const std::string& text) { return text.contains("-32603"); });
  };
  for (int i = 0; i < 256; ++i) Me().Ask("http/request", Get(kNobody));
  const int refused = Me().Ask("http/request", Get(kNobody));
  EXPECT_EQ(Me().AnswerTo(refused).value_or(Message()).error_code(), -32600);
  EXPECT_EQ(Call(ConnectReady(), "http/request", Get(kNobody)).error_code(), -32603);
  EXPECT_TRUE(RunUntil([&] { return failed() == 256; }));
  EXPECT_EQ(CodeOf(Get(kNobody)), -32603);
}

TEST_F(HttpServiceTest, CancelsWithTheConnection) {
  HttpServer silent(SayNothing), slow(SayHalf);
  for (const HttpServer* server : {&silent, &slow}) {
    Client& client = ConnectReady();
    client.Ask("http/request", Get(server->Url()));
    ASSERT_TRUE(RunUntil([&] { return !server->arrivals().empty(); }));
    client.Forget();
    client.transport->Disconnect();
    EXPECT_TRUE(RunUntilHangUp(*server));
    EXPECT_THAT(client.sent(), IsEmpty());
  }
}

TEST_F(HttpServiceTest, CancelsBeforeTheFirstTurnOfTheLoop) {
  HttpServer server(EchoRequest);
  Client& client = ConnectReady();
  client.Ask("http/request", Get(server.Url()));
  client.transport->Disconnect();
  EXPECT_EQ(Call(ConnectReady(), "http/request", Get(server.Url("/other"))).error_code(), 0);
  ASSERT_THAT(server.arrivals(), SizeIs(1));
  EXPECT_EQ(server.arrivals().at(0).target, "/other");
}

}  // namespace
}  // namespace holdfast::exec_server
