#include "auth/bearer_token.h"

#include <initializer_list>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace holdfast::auth {
namespace {

std::string TokenIn(std::vector<std::string_view> headers) {
  const auto token = BearerTokenOf(headers);
  return std::string(token ? *token : TextOf(token.error()));
}

TEST(BearerTokenTest, IsTheWordAfterTheScheme) {
  for (const char* header : {"Bearer abc", "bearer abc", "BEARER abc", "bEaReR abc", "Bearer   abc", "Bearer\tabc",
                             "Bearer abc  ", "  Bearer abc", "Bearer \t abc\t"}) {
    EXPECT_EQ(TokenIn({header}), "abc") << header;
  }
  EXPECT_EQ(TokenIn({"Bearer a.b-c_d~e+f/g=="}), "a.b-c_d~e+f/g==");
}

TEST(BearerTokenTest, IsMissingWithoutTheHeader) { EXPECT_EQ(TokenIn({}), "missing websocket bearer token"); }

TEST(BearerTokenTest, IsNotFoundInAnyOtherHeader) {
  for (const std::string_view header :
       {std::string_view(""), std::string_view(" "), std::string_view("Bearer"), std::string_view("Bearer "),
        std::string_view("Bearerabc"), std::string_view("Basic abc"), std::string_view("abc"),
        std::string_view("Bearer a b"), std::string_view("Bearer a,Bearer b"), std::string_view("Bearer, abc"),
        std::string_view("Bearer a\0b", 10), std::string_view("Bearer \xc3\xa4"), std::string_view("Bearer a\x7f")}) {
    EXPECT_EQ(TokenIn({header}), "invalid authorization header") << header;
  }
}

TEST(BearerTokenTest, IsAmbiguousInTwoHeaders) {
  EXPECT_EQ(TokenIn({"Bearer abc", "Bearer abc"}), "invalid authorization header");
}

}  // namespace
}  // namespace holdfast::auth
