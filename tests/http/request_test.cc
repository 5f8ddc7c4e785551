#include "http/request.h"

#include <gtest/gtest.h>

namespace holdfast::http {
namespace {

using namespace std::string_literals;

Request Sound() { return {.method = "GET", .url = "http://h/"}; }

std::string Fault(const Request& request) {
  const auto checked = CheckRequest(request);
  if (checked) return "";
  EXPECT_EQ(checked.error().kind, ErrorKind::kInvalidParams);
  return checked.error().message;
}

std::string FaultOfMethod(std::string method) {
  Request request = Sound();
  request.method = std::move(method);
  return Fault(request);
}

std::string FaultOfHeader(Header header, std::optional<std::string> body = {}) {
  Request request = Sound();
  request.body = std::move(body);
  request.secret_headers = {header};
  const std::string secret = Fault(request);
  std::swap(request.headers, request.secret_headers);
  EXPECT_EQ(Fault(request), secret);
  return secret;
}

TEST(CheckRequestTest, AcceptsAnyTokenAsMethod) {
  for (const char* method : {"GET", "get", "POST", "FOO", "M-SEARCH!", "HEAD"}) EXPECT_EQ(FaultOfMethod(method), "");
}

TEST(CheckRequestTest, RefusesWhatIsNoMethod) {
  for (const auto& method : {""s, "GE T"s, "G\r\nX"s, "\xc3\xa9"s, "GET/"s, "G\0T"s}) {
    EXPECT_EQ(FaultOfMethod(method), "http/request method is invalid: invalid HTTP method");
  }
  EXPECT_EQ(FaultOfMethod("CONNECT"), "http/request method is invalid: CONNECT is not supported");
}

TEST(CheckRequestTest, RefusesAHeadWithABody) {
  EXPECT_EQ(Fault({.method = "HEAD", .url = "http://h/", .body = ""}), "");
  EXPECT_EQ(Fault({.method = "HEAD", .url = "http://h/", .body = "x"}),
            "http/request body is invalid: HEAD must not have a body");
}

TEST(CheckRequestTest, RefusesUrlsItCannotAsk) {
  Request request = Sound();
  request.url = "nope";
  EXPECT_EQ(Fault(request), "http/request url is invalid: relative URL without a base");
  request.url = "file:///etc/passwd";
  EXPECT_EQ(Fault(request), "http/request only supports http and https URLs, got file");
}

TEST(CheckRequestTest, AcceptsHeaders) {
  EXPECT_EQ(FaultOfHeader({"X-A", "a\tb \xc3\xa9"}), "");
  EXPECT_EQ(FaultOfHeader({"X-A", ""}), "");
  EXPECT_EQ(FaultOfHeader({"Host", "elsewhere"}), "");
  EXPECT_EQ(FaultOfHeader({"Authorization", "Bearer x"}), "");
}

TEST(CheckRequestTest, RefusesMalformedHeaderNames) {
  for (const auto& name : {""s, "a b"s, "a:"s, "a\r\n"s, "\xc3\xa9"s, "a\0"s}) {
    EXPECT_EQ(FaultOfHeader({name, "v"}), "http/request header name is invalid: invalid HTTP header name");
  }
}

TEST(CheckRequestTest, RefusesControlBytesInValuesAndShowsNoValue) {
  for (const auto& value : {"secret\r\nX: y"s, "secret\n"s, "secret\0"s, "secret\x01"s, "secret\x7f"s}) {
    EXPECT_EQ(FaultOfHeader({"x", value}), "http/request header value is invalid for x: failed to parse header value");
  }
}

TEST(CheckRequestTest, RefusesHeadersOfTheConnection) {
  for (const char* name : {"Connection", "keep-alive", "Proxy-Connection", "proxy-authenticate", "Proxy-Authorization",
                           "TE", "trailer", "Transfer-Encoding", "UPGRADE"}) {
    EXPECT_EQ(FaultOfHeader({name, "x"}),
              "http/request header "s + name + " belongs to the connection and cannot be set");
  }
}

TEST(CheckRequestTest, AcceptsOnlyTheBodysOwnLength) {
  EXPECT_EQ(FaultOfHeader({"Content-Length", "3"}, "abc"), "");
  EXPECT_EQ(FaultOfHeader({"content-length", " 0 "}), "");
  for (const char* length : {"2", "4", "03", "x", "", "3, 3"}) {
    EXPECT_EQ(FaultOfHeader({"Content-Length", length}, "abc"),
              "http/request header Content-Length is not the length of the body");
  }
}

}  // namespace
}  // namespace holdfast::http
