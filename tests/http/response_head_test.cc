#include "http/response_head.h"

#include <gtest/gtest.h>

namespace holdfast::http {
namespace {

// Returns whether every line was accepted.
bool TakeAll(ResponseHead& head, std::initializer_list<const char*> lines) {
  return std::ranges::all_of(lines, [&](const char* line) { return head.Take(line); });
}

TEST(ResponseHeadTest, PutsStatusAndHeadersTogether) {
  ResponseHead head;
  EXPECT_TRUE(TakeAll(head, {"HTTP/1.1 204 No Content\r\n", "X-A: 1\r\n", "x-a:2 \r\n", "X-Empty:\r\n"}));
  EXPECT_FALSE(head.complete());
  EXPECT_TRUE(head.Take("\r\n"));
  EXPECT_TRUE(head.complete());
  EXPECT_EQ(head.response().status, 204);
  EXPECT_EQ(head.response().headers, (std::vector<Header>{{"x-a", "1"}, {"x-a", "2"}, {"x-empty", ""}}));
}

TEST(ResponseHeadTest, PassesOverInterimResponses) {
  ResponseHead head;
  EXPECT_TRUE(TakeAll(head, {"HTTP/1.1 103 Early\r\n", "Link: x\r\n", "\r\n"}));
  EXPECT_FALSE(head.complete());
  EXPECT_TRUE(TakeAll(head, {"HTTP/1.1 200\r\n", "X-A: 1\r\n", "\r\n"}));
  EXPECT_TRUE(head.complete());
  EXPECT_EQ(head.response().headers, (std::vector<Header>{{"x-a", "1"}}));
}

TEST(ResponseHeadTest, PassesOverTrailers) {
  ResponseHead head;
  EXPECT_TRUE(TakeAll(head, {"HTTP/1.1 200 OK\r\n", "\r\n", "X-Trailer: 1\r\n", "\r\n"}));
  EXPECT_TRUE(head.response().headers.empty());
}

TEST(ResponseHeadTest, JoinsFoldedLines) {
  ResponseHead head;
  EXPECT_TRUE(TakeAll(head, {"HTTP/1.1 200 OK\r\n", "X-A: 1\r\n", "\t 2\r\n", "\r\n"}));
  EXPECT_EQ(head.response().headers, (std::vector<Header>{{"x-a", "1 2"}}));
}

TEST(ResponseHeadTest, RefusesWhatHasNoStatus) {
  for (const char* line : {"HTTP/1.1\r\n", "HTTP/1.1 99 X\r\n", "HTTP/1.1 099 X\r\n", "HTTP/1.1 abc\r\n"}) {
    ResponseHead head;
    EXPECT_FALSE(head.Take(line)) << line;
    EXPECT_EQ(head.fault(), "the response has no status");
  }
}

TEST(ResponseHeadTest, RefusesMalformedHeaders) {
  for (const char* line : {"no colon\r\n", ": no name\r\n", " folded onto nothing\r\n"}) {
    ResponseHead head;
    EXPECT_FALSE(TakeAll(head, {"HTTP/1.1 200 OK\r\n", line})) << line;
    EXPECT_EQ(head.fault(), "the response has a malformed header");
  }
}

TEST(ResponseHeadTest, BoundsTheHeaders) {
  ResponseHead head;
  ASSERT_TRUE(head.Take("HTTP/1.1 200 OK\r\n"));
  for (size_t i = 0; i < ResponseHead::kMaxHeaders; ++i) ASSERT_TRUE(head.Take("a: b\r\n"));
  EXPECT_FALSE(head.Take("a: b\r\n"));
  EXPECT_EQ(head.fault(), "the response has too many headers");
}

TEST(ResponseHeadTest, BoundsTheirBytes) {
  ResponseHead head;
  ASSERT_TRUE(head.Take("HTTP/1.1 200 OK\r\n"));
  ASSERT_TRUE(head.Take("a: " + std::string(ResponseHead::kMaxBytes / 2, 'x') + "\r\n"));
  EXPECT_FALSE(head.Take(" " + std::string(ResponseHead::kMaxBytes / 2, 'x') + "\r\n"));
  EXPECT_EQ(head.fault(), "the response's headers are too large");
}

}  // namespace
}  // namespace holdfast::http
