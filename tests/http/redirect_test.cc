#include "http/redirect.h"

#include <gtest/gtest.h>

namespace holdfast::http {
namespace {

Request Post() {
  return {.method = "POST",
          .url = "http://h/a",
          .headers = {{"Content-Type", "t/x"}, {"content-encoding", "gzip"}, {"X-K", "1"}},
          .body = "abc"};
}

Request After(Request request, uint16_t status, const char* to = "http://h/b") {
  ApplyRedirect(request, status, *ParseUrl("http://h/a"), *ParseUrl(to));
  return request;
}

TEST(RedirectTest, KnowsTheStatusesThatSendOn) {
  for (const int status : {301, 302, 303, 307, 308}) EXPECT_TRUE(IsRedirect(static_cast<uint16_t>(status)));
  for (const int status : {200, 300, 304, 305, 306, 309, 400}) EXPECT_FALSE(IsRedirect(static_cast<uint16_t>(status)));
}

TEST(RedirectTest, TurnsPostIntoGetWithoutBody) {
  for (const uint16_t status : {301, 302, 303}) {
    const Request request = After(Post(), status);
    EXPECT_EQ(request.method, "GET");
    EXPECT_FALSE(request.body);
    EXPECT_EQ(request.headers, (std::vector<Header>{{"X-K", "1"}}));
  }
}

TEST(RedirectTest, RepeatsMethodAndBody) {
  for (const uint16_t status : {307, 308}) {
    const Request request = After(Post(), status);
    EXPECT_EQ(request.method, "POST");
    EXPECT_EQ(request.body, "abc");
    EXPECT_EQ(request.headers.size(), 3u);
  }
}

TEST(RedirectTest, KeepsOtherMethodsButAfterSeeOther) {
  Request put = Post();
  put.method = "PUT";
  EXPECT_EQ(After(put, 302).method, "PUT");
  EXPECT_EQ(After(put, 302).body, "abc");
  EXPECT_EQ(After(put, 303).method, "GET");
  EXPECT_FALSE(After(put, 303).body);
  put.method = "HEAD";
  EXPECT_EQ(After(put, 303).method, "HEAD");
}

class CredentialsTest : public testing::Test {
 protected:
  CredentialsTest() {
    request_.headers = {{"AUTHORIZATION", "a"}, {"Cookie", "c"}, {"Proxy-X", "p"}, {"Host", "h"}, {"X-K", "1"}};
    request_.secret_headers = {{"X-Token", "t"}};
  }

  Request request_ = Post();
};

TEST_F(CredentialsTest, StayWithinTheOrigin) {
  EXPECT_EQ(After(request_, 307, "http://h:80/other").headers, request_.headers);
  EXPECT_EQ(After(request_, 307, "http://h:80/other").secret_headers, request_.secret_headers);
}

TEST_F(CredentialsTest, DoNotLeaveTheOrigin) {
  for (const char* elsewhere : {"https://h/", "http://h:81/", "http://i/"}) {
    const Request request = After(request_, 307, elsewhere);
    EXPECT_EQ(request.headers, (std::vector<Header>{{"X-K", "1"}})) << elsewhere;
    EXPECT_TRUE(request.secret_headers.empty());
  }
}

}  // namespace
}  // namespace holdfast::http
