#include "base/base64_url.h"

#include <string>

#include <gtest/gtest.h>

namespace holdfast {
namespace {

TEST(Base64UrlTest, HasItsOwnAlphabetAndNoPadding) {
  EXPECT_EQ(Base64UrlEncode("\xfb\xff\xfe"), "-__-");
  EXPECT_EQ(Base64UrlEncode("f"), "Zg");
  EXPECT_EQ(Base64UrlEncode("fo"), "Zm8");
  EXPECT_EQ(Base64UrlEncode(""), "");
}

TEST(Base64UrlTest, IsDecodedAsItWasEncoded) {
  std::string bytes;
  for (int i = 0; i < 256; ++i) {
    EXPECT_EQ(Base64UrlDecode(Base64UrlEncode(bytes)), bytes);
    bytes += static_cast<char>(i);
  }
}

TEST(Base64UrlTest, RefusesEveryOtherText) {
  for (const char* text : {"Zg==", "+/+/", "Z", "Zh", "Zm 8", "Zm8\n"}) EXPECT_FALSE(Base64UrlDecode(text)) << text;
}

}  // namespace
}  // namespace holdfast
