#include "base/sha256.h"

#include <algorithm>
#include <span>
#include <string>
#include <string_view>

#include <gtest/gtest.h>

namespace holdfast {
namespace {

std::string DigestOf(std::string_view text, size_t part_bytes) {
  Sha256 sha;
  while (!text.empty()) {
    const std::string_view part = text.substr(0, part_bytes);
    sha.Update(std::as_bytes(std::span(part)));
    text.remove_prefix(part.size());
  }
  return sha.HexDigest();
}

// The inputs and digests are the examples of FIPS 180-2.
TEST(Sha256Test, MatchesThePublishedDigests) {
  EXPECT_EQ(DigestOf("", 1), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(DigestOf("abc", 3), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(DigestOf("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq", 100),
            "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
  EXPECT_EQ(DigestOf(std::string(1'000'000, 'a'), 65536),
            "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

TEST(Sha256Test, DoesNotDependOnHowTheBytesArrive) {
  std::string text;
  for (int i = 0; i < 200; ++i) text += static_cast<char>(i);
  const std::string whole = DigestOf(text, text.size());
  for (size_t part_bytes = 1; part_bytes < text.size(); ++part_bytes) EXPECT_EQ(DigestOf(text, part_bytes), whole);
}

TEST(Sha256Test, TakesAnEmptyPart) {
  Sha256 sha;
  sha.Update({});
  EXPECT_EQ(sha.HexDigest(), DigestOf("", 1));
}

TEST(Sha256Test, AWholeTextHasTheSameDigest) {
  EXPECT_EQ(Sha256Hex("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
}

}  // namespace
}  // namespace holdfast
