#include "transport/http_request.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace holdfast::transport {
namespace {

using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::StartsWith;

constexpr std::string_view kUpgrade =
    "Connection: keep-alive, Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n"
    "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n";

const HttpRoutes kRoutes = {
    {.path = "/", .kind = HttpRoute::Kind::kWebSocket},
    {.path = "/readyz", .kind = HttpRoute::Kind::kProbe, .access = HttpRoute::Access::kEveryone},
    {.path = "/healthz", .kind = HttpRoute::Kind::kProbe, .access = HttpRoute::Access::kEveryone},
    {.path = "/page", .kind = HttpRoute::Kind::kWebSocket, .origin = HttpRoute::Origin::kAllowed},
    {.path = "/private", .kind = HttpRoute::Kind::kProbe},
};

HttpDecision Decide(std::string_view request_line, std::string_view headers = "", std::string_view secret = "") {
  return DecideHttpRequest(std::string(request_line) + " HTTP/1.1\r\nHost: x\r\n" + std::string(headers) + "\r\n",
                           kRoutes, {.secret = std::string(secret)}, -1);
}

std::string Answered(const HttpDecision& decision) {
  const auto* answer = std::get_if<HttpAnswer>(&decision);
  return answer != nullptr ? answer->bytes : "an upgrade";
}

std::string With(std::string_view headers, std::string_view from, std::string_view to) {
  std::string changed(headers);
  return changed.replace(changed.find(from), from.size(), to);
}

TEST(HttpRequestTest, UpgradesOnTheRootPathWithTheKey) {
  const HttpDecision decision = Decide("GET /", kUpgrade);
  ASSERT_TRUE(std::holds_alternative<Upgrade>(decision)) << Answered(decision);
  EXPECT_EQ(std::get<Upgrade>(decision).key, "dGhlIHNhbXBsZSBub25jZQ==");
}

TEST(HttpRequestTest, UpgradesARequestWithAnEmptyBody) {
  EXPECT_TRUE(std::holds_alternative<Upgrade>(Decide("GET /", std::string(kUpgrade) + "Content-Length: 0\r\n")));
}

// A process that finds the port in /proc/net/tcp, such as a sandboxed command, does not know the path.
TEST(HttpRequestTest, UpgradesOnlyTheSecretPathWhereThereIsASecret) {
  EXPECT_TRUE(std::holds_alternative<Upgrade>(Decide("GET /s3cret", kUpgrade, "s3cret")));
  EXPECT_TRUE(std::holds_alternative<Upgrade>(Decide("GET /s3cret?x=y", kUpgrade, "s3cret")));
  for (const char* path :
       {"/", "/s3cre", "/s3crets", "/S3CRET", "//s3cret", "/other/s3cret", "s3cret", "*", "/?s3cret"}) {
    const std::string answer = Answered(Decide(std::string("GET ") + path, kUpgrade, "s3cret"));
    EXPECT_THAT(answer, StartsWith("HTTP/1.1 401 ")) << path;
    EXPECT_THAT(answer, HasSubstr("\r\nWWW-Authenticate: ")) << path;
  }
  EXPECT_THAT(Answered(Decide("GET /s3cret/other", kUpgrade, "s3cret")), StartsWith("HTTP/1.1 404 "));
  EXPECT_THAT(Answered(Decide("GET /s3cret", "", "s3cret")), StartsWith("HTTP/1.1 400 "));
}

TEST(HttpRequestTest, AnswersProbesWithAndWithoutTheSecret) {
  for (const char* path : {"/readyz", "/healthz", "/s3cret/readyz", "/s3cret/healthz"}) {
    EXPECT_THAT(Answered(Decide(std::string("GET ") + path, "", "s3cret")), StartsWith("HTTP/1.1 200 ")) << path;
  }
  EXPECT_THAT(Answered(Decide("GET /wrong/readyz", "", "s3cret")), StartsWith("HTTP/1.1 401 "));
}

TEST(HttpRequestTest, AnswersByMethodPathAndHeaders) {
  struct Case {
    std::string_view request;
    std::string headers;
    std::string_view status;
  };
  const std::string upgrade(kUpgrade), origin = "Origin: http://localhost\r\n";
  for (const Case& c : std::initializer_list<Case>{
           {"GET /readyz", "", "200 OK"},
           {"HEAD /readyz", "", "200 OK"},
           {"GET /readyz?verbose", "", "200 OK"},
           {"GET /healthz", "", "200 OK"},
           {"HEAD /healthz", "", "200 OK"},
           {"POST /readyz", "Content-Length: 2\r\n", "405 "},
           {"DELETE /healthz", "", "405 "},
           {"GET /other", "", "404 "},
           {"GET /other", upgrade, "404 "},
           {"GET /readyz/", "", "404 "},
           {"GET /", "", "400 "},
           {"POST /", upgrade, "405 "},
           {"GET /", origin, "403 "},
           {"GET /", upgrade + origin, "403 "},
           {"GET /readyz", origin, "403 "},
           {"GET /other", origin, "403 "},
           {"POST /readyz", origin, "403 "},
           {"GET /", With(upgrade, "websocket", "h2c"), "400 "},
           {"GET /", With(upgrade, ": 13", ": 8"), "426 "},
           {"GET /", With(upgrade, "dGhl", ""), "400 "},
           {"GET /", upgrade + "Content-Length: 2\r\n", "400 "},
           {"GET /", upgrade + "Transfer-Encoding: chunked\r\n", "400 "},
           {"GET /", With(upgrade, "Sec-WebSocket-Key", "Sec-WebSocket-Lock"), "400 "},
       }) {
    EXPECT_THAT(Answered(Decide(c.request, c.headers)), StartsWith("HTTP/1.1 " + std::string(c.status)))
        << c.request << "\n"
        << c.headers;
  }
}

TEST(HttpRequestTest, SaysWhichMethodsAProbeAllows) {
  EXPECT_THAT(Answered(Decide("PUT /readyz")), HasSubstr("\r\nAllow: GET, HEAD\r\n"));
}

TEST(HttpRequestTest, SaysWhichWebSocketVersionItSpeaks) {
  EXPECT_THAT(Answered(Decide("GET /", With(kUpgrade, ": 13", ": 8"))), HasSubstr("\r\nSec-WebSocket-Version: 13\r\n"));
}

TEST(HttpRequestTest, AnswersAProbeWithoutABody) {
  EXPECT_THAT(Answered(Decide("GET /readyz")), HasSubstr("\r\nContent-Length: 0\r\n"));
  EXPECT_THAT(Answered(Decide("GET /readyz")), EndsWith("\r\n\r\n"));
}

TEST(HttpRequestTest, LeavesOutTheBodyForHead) { EXPECT_THAT(Answered(Decide("HEAD /other")), EndsWith("\r\n\r\n")); }

TEST(HttpRequestTest, RefusesWhatIsNotHttp) {
  for (const std::string_view head : {"\r\n\r\n", "hello\r\n\r\n", "GET /\r\n\r\n", "GET / HTTP/9.9\r\n\r\n",
                                      "GET / HTTP/1.1\r\nno colon\r\n\r\n", "GET / HTTP/1.1\r\nOri\0gin: x\r\n\r\n"}) {
    EXPECT_THAT(Answered(DecideHttpRequest(head, kRoutes, {}, -1)), StartsWith("HTTP/1.1 400 ")) << head;
  }
}

TEST(HttpRequestTest, DoesNotUpgradeOldHttp) {
  EXPECT_THAT(Answered(DecideHttpRequest("GET / HTTP/1.0\r\n" + std::string(kUpgrade) + "\r\n", kRoutes, {}, -1)),
              StartsWith("HTTP/1.1 400 "));
}

TEST(HttpRequestTest, ServesABrowserOnlyWhereTheRouteAllowsIt) {
  const std::string headers = std::string(kUpgrade) + "Origin: http://localhost\r\n";
  EXPECT_TRUE(std::holds_alternative<Upgrade>(Decide("GET /page", headers)));
  EXPECT_TRUE(std::holds_alternative<Upgrade>(Decide("GET /s3cret/page", headers, "s3cret")));
  for (const char* path : {"/", "/s3cret", "/other"}) {
    EXPECT_THAT(Answered(Decide(std::string("GET ") + path, headers)), StartsWith("HTTP/1.1 403 ")) << path;
  }
  EXPECT_THAT(Answered(Decide("GET /page", headers, "s3cret")), StartsWith("HTTP/1.1 403 "));
}

TEST(HttpRequestTest, AsksForTheSecretOnARouteThatIsNotForEveryone) {
  EXPECT_THAT(Answered(Decide("GET /private", "")), StartsWith("HTTP/1.1 200 "));
  EXPECT_THAT(Answered(Decide("GET /private", "", "s3cret")), StartsWith("HTTP/1.1 401 "));
  EXPECT_THAT(Answered(Decide("GET /s3cret/private", "", "s3cret")), StartsWith("HTTP/1.1 200 "));
}

// Returns the answer of a listener whose authorizer refuses every request for the sake of `refusal`.
std::string Refused(std::string_view request_line, std::string_view headers, HttpRefusal refusal) {
  const Authorizer authorizer{.refuse = [&](const Credentials&) { return std::optional(refusal); }};
  return Answered(DecideHttpRequest(
      std::string(request_line) + " HTTP/1.1\r\nHost: x\r\n" + std::string(headers) + "\r\n", kRoutes, authorizer, -1));
}

TEST(HttpRequestTest, AnswersAsTheAuthorizerSays) {
  using Status = HttpRefusal::Status;
  EXPECT_EQ(Refused("GET /", kUpgrade, {Status::kUnauthorized, "no token"}),
            "HTTP/1.1 401 Unauthorized\r\nWWW-Authenticate: Bearer\r\nContent-Type: text/plain\r\n"
            "Content-Length: 8\r\nConnection: close\r\n\r\nno token");
  EXPECT_EQ(Refused("GET /", kUpgrade, {Status::kForbidden, "not you\n"}),
            "HTTP/1.1 403 Forbidden\r\nContent-Type: text/plain\r\nContent-Length: 8\r\nConnection: close\r\n\r\n"
            "not you\n");
  EXPECT_EQ(Refused("GET /", kUpgrade, {Status::kTooManyRequests, "wait", std::chrono::seconds(7)}),
            "HTTP/1.1 429 Too Many Requests\r\nRetry-After: 7\r\nContent-Type: text/plain\r\nContent-Length: 4\r\n"
            "Connection: close\r\n\r\nwait");
}

TEST(HttpRequestTest, AsksTheAuthorizerOnlyAboutRoutesThatAreNotForEveryone) {
  const HttpRefusal refusal{HttpRefusal::Status::kUnauthorized, "no token"};
  for (const char* request : {"GET /", "HEAD /", "POST /", "GET /private", "GET /page"}) {
    EXPECT_THAT(Refused(request, "", refusal), StartsWith("HTTP/1.1 401 ")) << request;
  }
  EXPECT_THAT(Refused("GET /readyz", "", refusal), StartsWith("HTTP/1.1 200 "));
  EXPECT_THAT(Refused("GET /healthz", "", refusal), StartsWith("HTTP/1.1 200 "));
  EXPECT_THAT(Refused("GET /other", kUpgrade, refusal), StartsWith("HTTP/1.1 404 "));
  EXPECT_THAT(Refused("GET /", "Origin: http://localhost\r\n", refusal), StartsWith("HTTP/1.1 403 "));
}

TEST(HttpRequestTest, ShowsTheAuthorizerTheSocketAndEveryAuthorizationHeader) {
  std::vector<std::string> seen;
  int socket = -1;
  const Authorizer authorizer{.refuse = [&](const Credentials& credentials) -> std::optional<HttpRefusal> {
    seen.assign(credentials.authorization.begin(), credentials.authorization.end());
    socket = credentials.socket;
    return std::nullopt;
  }};
  const std::string head = "GET / HTTP/1.1\r\nauthorization: Bearer  a \r\n" + std::string(kUpgrade) +
                           "AUTHORIZATION: Basic b\r\nX-Authorization: c\r\n\r\n";
  EXPECT_TRUE(std::holds_alternative<Upgrade>(DecideHttpRequest(head, kRoutes, authorizer, 42)));
  EXPECT_THAT(seen, testing::ElementsAre("Bearer  a", "Basic b"));
  EXPECT_EQ(socket, 42);
}

HttpDecision DecideWithCalls(std::string_view request_line, std::string_view headers, std::string_view secret = "") {
  return DecideHttpRequest(std::string(request_line) + " HTTP/1.1\r\nHost: x\r\n" + std::string(headers) + "\r\n",
                           kRoutes, {.secret = std::string(secret)}, -1, OtherPaths::kCalls);
}

TEST(HttpRequestTest, LeavesPathsThatAreNoRoutesToTheOwner) {
  for (const char* request : {"GET /other", "POST /other?x", "BREW /readyz/", "HEAD /other"}) {
    EXPECT_TRUE(std::holds_alternative<CallHead>(DecideWithCalls(request, ""))) << request;
  }
  EXPECT_THAT(Answered(DecideWithCalls("GET /readyz", "")), StartsWith("HTTP/1.1 200 "));
  EXPECT_THAT(Answered(DecideWithCalls("GET /", "")), StartsWith("HTTP/1.1 400 "));
  EXPECT_THAT(Answered(DecideWithCalls("GET /other", "Origin: http://localhost\r\n")), StartsWith("HTTP/1.1 403 "));
  EXPECT_THAT(Answered(DecideWithCalls("GET /other", "", "s3cret")), StartsWith("HTTP/1.1 401 "));
  EXPECT_TRUE(std::holds_alternative<CallHead>(DecideWithCalls("GET /s3cret/other", "", "s3cret")));
}

TEST(HttpRequestTest, ReadsTheLengthOfTheBodyOfACall) {
  const std::string limit = std::to_string(kMaxHttpBodyBytes), more = std::to_string(kMaxHttpBodyBytes + 1);
  for (const auto& [headers, bytes] : std::initializer_list<std::pair<std::string, size_t>>{
           {"", 0},
           {"Content-Length: 0\r\n", 0},
           {"Content-Length: 17\r\n", 17},
           {"Content-Length: " + limit + "\r\n", kMaxHttpBodyBytes},
       }) {
    const HttpDecision decision = DecideWithCalls("POST /other", headers);
    ASSERT_TRUE(std::holds_alternative<CallHead>(decision)) << Answered(decision);
    EXPECT_EQ(std::get<CallHead>(decision).body_bytes, bytes) << headers;
  }
  for (const auto& [headers, status] : std::initializer_list<std::pair<std::string, std::string>>{
           {"Content-Length: " + more + "\r\n", "413 "},
           {"Content-Length: 18446744073709551615\r\n", "413 "},
           {"Content-Length: 18446744073709551616\r\n", "400 "},
           {"Content-Length: -1\r\n", "400 "},
           {"Content-Length: 1x\r\n", "400 "},
           {"Content-Length: 1\r\nContent-Length: 2\r\n", "400 "},
           {"Transfer-Encoding: chunked\r\n", "411 "},
           {"Transfer-Encoding: gzip\r\n", "411 "},
       }) {
    EXPECT_THAT(Answered(DecideWithCalls("POST /other", headers)), StartsWith("HTTP/1.1 " + status)) << headers;
  }
}

TEST(HttpRequestTest, SeesThatTheSenderOfACallWaitsBeforeItsBody) {
  const auto awaits = [](std::string_view version, std::string_view headers) {
    const std::string head = "POST /other HTTP/" + std::string(version) + "\r\n" + std::string(headers) + "\r\n";
    return std::get<CallHead>(DecideHttpRequest(head, kRoutes, {}, -1, OtherPaths::kCalls)).awaits_continue;
  };
  EXPECT_TRUE(awaits("1.1", "Content-Length: 1\r\nExpect: 100-Continue\r\n"));
  EXPECT_FALSE(awaits("1.1", "Content-Length: 1\r\n"));
  EXPECT_FALSE(awaits("1.0", "Content-Length: 1\r\nExpect: 100-continue\r\n"));
}

TEST(HttpRequestTest, GivesTheKeyOfACallThatIsAValidUpgrade) {
  const auto key = [](std::string_view request, const std::string& headers) {
    return std::get<CallHead>(DecideWithCalls(request, headers)).web_socket_key;
  };
  const std::string upgrade(kUpgrade);
  EXPECT_EQ(key("GET /other", upgrade), "dGhlIHNhbXBsZSBub25jZQ==");
  EXPECT_EQ(key("POST /other", upgrade), "");
  EXPECT_EQ(key("GET /other", With(upgrade, ": 13", ": 8")), "");
  EXPECT_EQ(key("GET /other", upgrade + "Content-Length: 2\r\n"), "");
  EXPECT_EQ(key("GET /other", ""), "");
}

TEST(HttpRequestTest, WritesTheAnswerToACall) {
  const HttpResponse response{.status = 404, .body = "no\n", .headers = {{"X-A", "1"}, {"X-B", "2"}}};
  EXPECT_EQ(AnswerTo({.method = "GET"}, response).bytes,
            "HTTP/1.1 404 Not Found\r\nX-A: 1\r\nX-B: 2\r\nContent-Type: text/plain; charset=utf-8\r\n"
            "Content-Length: 3\r\nConnection: close\r\n\r\nno\n");
  EXPECT_THAT(AnswerTo({.method = "HEAD"}, response).bytes,
              EndsWith("\r\nContent-Length: 3\r\nConnection: close\r\n\r\n"));
  EXPECT_EQ(AnswerTo({.method = "GET"}, {.status = 200}).bytes,
            "HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: close\r\n\r\n");
}

}  // namespace
}  // namespace holdfast::transport
