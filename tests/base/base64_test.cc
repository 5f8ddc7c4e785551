#include "base/base64.h"

#include <cstdint>
#include <memory>
#include <random>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "base/base64_kernels.h"

namespace holdfast {
namespace {

std::span<const std::byte> Bytes(std::string_view text) { return std::as_bytes(std::span(text)); }

std::string RandomBytes(size_t size, uint32_t seed) {
  std::mt19937 random(seed);
  std::string bytes(size, '\0');
  for (char& byte : bytes) byte = static_cast<char>(random());
  return bytes;
}

// Encodes bit by bit, and shares no code with the kernels.
std::string NaiveEncode(std::string_view bytes) {
  const std::string alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string text;
  uint32_t bits = 0;
  int held = 0;
  for (unsigned char byte : bytes) {
    bits = bits << 8 | byte;
    for (held += 8; held >= 6; held -= 6) text += alphabet[bits >> (held - 6) & 63];
  }
  if (held > 0) text += alphabet[bits << (6 - held) & 63];
  while (text.size() % 4 != 0) text += '=';
  return text;
}

class Base64KernelTest : public testing::TestWithParam<base64_kernels::Kernel> {
 protected:
  // Encodes with the kernel under test. Input and output are heap blocks of the exact size, so that the address
  // sanitizer finds an access to a byte outside of them; `shift` moves the input off its natural alignment.
  std::string Encode(std::string_view bytes, size_t shift) const {
    const auto in = std::make_unique<char[]>(bytes.size() + shift);
    bytes.copy(in.get() + shift, bytes.size());
    const size_t size = Base64EncodedSize(bytes.size());
    const auto out = std::make_unique<char[]>(size);
    char* end = GetParam().encode(Bytes({in.get() + shift, bytes.size()}), out.get());
    EXPECT_EQ(end, out.get() + size);
    return {out.get(), size};
  }

  // Decodes with the kernel under test, and checks the number of characters that the kernel returns.
  std::string Decode(std::string_view text, size_t shift = 0) const {
    const auto in = std::make_unique<char[]>(text.size() + shift);
    text.copy(in.get() + shift, text.size());
    const auto out = std::make_unique<char[]>(text.size() / 4 * 3);
    const size_t consumed = GetParam().decode({in.get() + shift, text.size()}, out.get());
    EXPECT_LE(consumed, text.size());
    EXPECT_EQ(consumed % 4, 0u);
    return {out.get(), consumed / 4 * 3};
  }
};

std::string RandomText(size_t size, uint32_t seed) {
  return NaiveEncode(RandomBytes(size / 4 * 3 + 3, seed)).substr(0, size);
}

TEST_P(Base64KernelTest, AgreesWithNaiveAtAllSmallLengths) {
  for (size_t size = 0; size <= 300; ++size) {
    const std::string bytes = RandomBytes(size, static_cast<uint32_t>(size));
    ASSERT_EQ(Encode(bytes, 0), NaiveEncode(bytes)) << "size " << size;
  }
}

TEST_P(Base64KernelTest, AgreesWithNaiveOnLargeInputs) {
  std::mt19937 random(7);
  for (uint32_t round = 0; round < 20; ++round) {
    const std::string bytes = RandomBytes(1000 + random() % 20000, round);
    ASSERT_EQ(Encode(bytes, 0), NaiveEncode(bytes)) << "size " << bytes.size();
  }
}

TEST_P(Base64KernelTest, AcceptsUnalignedInput) {
  for (size_t shift = 1; shift < 64; ++shift) {
    const std::string bytes = RandomBytes(257, static_cast<uint32_t>(shift));
    ASSERT_EQ(Encode(bytes, shift), NaiveEncode(bytes)) << "shift " << shift;
  }
}

TEST_P(Base64KernelTest, ProducesEveryPairOfCharacters) {
  std::string bytes;
  for (int bits = 0; bits < 4096; ++bits) {
    bytes += static_cast<char>(bits >> 4);
    bytes += static_cast<char>(bits << 4 | bits >> 8);
    bytes += static_cast<char>(bits);
  }
  EXPECT_EQ(Encode(bytes, 0), NaiveEncode(bytes));
}

TEST_P(Base64KernelTest, DecodesTheWholeGroupsOfAllSmallLengths) {
  for (size_t size = 0; size <= 300; ++size) {
    const std::string text = RandomText(size, static_cast<uint32_t>(size));
    ASSERT_EQ(NaiveEncode(Decode(text)), text.substr(0, size / 4 * 4)) << "size " << size;
  }
}

TEST_P(Base64KernelTest, DecodesLargeTexts) {
  std::mt19937 random(7);
  for (uint32_t round = 0; round < 20; ++round) {
    const std::string text = RandomText(1000 + random() % 20000 / 4 * 4, round);
    ASSERT_EQ(NaiveEncode(Decode(text)), text) << "size " << text.size();
  }
}

TEST_P(Base64KernelTest, DecodesUnalignedInput) {
  for (size_t shift = 1; shift < 64; ++shift) {
    const std::string text = RandomText(256, static_cast<uint32_t>(shift));
    ASSERT_EQ(NaiveEncode(Decode(text, shift)), text) << "shift " << shift;
  }
}

TEST_P(Base64KernelTest, DecodesEveryPairOfCharacters) {
  std::string text;
  for (char a : base64_kernels::kAlphabet) {
    for (char b : base64_kernels::kAlphabet) text += {a, b, b, a};
  }
  EXPECT_EQ(NaiveEncode(Decode(text)), text);
}

TEST_P(Base64KernelTest, TakesAllByteValuesAtAllPlacesAsTheScalarKernelDoes) {
  std::string text = RandomText(200, 7);
  std::string expected(150, '\0');
  for (size_t place = 0; place < text.size(); ++place) {
    const char before = text[place];
    for (int byte = 0; byte < 256; ++byte) {
      text[place] = static_cast<char>(byte);
      const bool is_good = base64_kernels::kAlphabet.contains(text[place]);
      const size_t consumed = base64_kernels::DecodeScalar(text, expected.data());
      ASSERT_EQ(consumed, is_good ? text.size() : place / 4 * 4);
      ASSERT_EQ(Decode(text), expected.substr(0, consumed / 4 * 3)) << "byte " << byte << " at " << place;
    }
    text[place] = before;
  }
}

TEST_P(Base64KernelTest, StopsAtTheFirstOfTwoBadCharacters) {
  for (size_t first = 0; first < 200; ++first) {
    for (size_t second = first + 1; second < 200; second += 7) {
      std::string text = RandomText(200, 7);
      text[first] = text[second] = '-';
      ASSERT_EQ(Decode(text).size(), first / 4 * 3) << first << " and " << second;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Available, Base64KernelTest, testing::ValuesIn(base64_kernels::AvailableKernels()),
                         [](const auto& kernel) { return std::string(kernel.param.name); });

TEST(Base64Test, EncodesTheRfcExamples) {
  EXPECT_EQ(Base64Encode(Bytes("")), "");
  EXPECT_EQ(Base64Encode(Bytes("f")), "Zg==");
  EXPECT_EQ(Base64Encode(Bytes("fo")), "Zm8=");
  EXPECT_EQ(Base64Encode(Bytes("foo")), "Zm9v");
  EXPECT_EQ(Base64Encode(Bytes("foobar")), "Zm9vYmFy");
}

TEST(Base64Test, DecodesWhatItEncodes) {
  for (size_t size = 0; size <= 300; ++size) {
    const std::string bytes = RandomBytes(size, static_cast<uint32_t>(size));
    ASSERT_EQ(Base64Decode(Base64Encode(Bytes(bytes))), bytes) << "size " << size;
  }
}

struct Refusal {
  std::string_view text;
  std::string_view message;
};

TEST(Base64Test, NamesTheOffsetOfWhatItRefuses) {
  const Refusal refusals[] = {
      {"Zm9v!mFy", "base64: bad character at offset 4"},
      {"Zm9vYm-y", "base64: bad character at offset 6"},
      {"Zm9v\nYmF", "base64: bad character at offset 4"},
      {"Zm9v ", "base64: incomplete group of four characters at offset 5"},
      {"Zm9vYg", "base64: incomplete group of four characters at offset 6"},
      {"Zm9vY", "base64: incomplete group of four characters at offset 5"},
      {"Z", "base64: incomplete group of four characters at offset 1"},
      {"=", "base64: incomplete group of four characters at offset 1"},
      {"==", "base64: incomplete group of four characters at offset 2"},
      {"Zg=", "base64: incomplete group of four characters at offset 3"},
      {"====", "base64: misplaced padding at offset 0"},
      {"Z===", "base64: misplaced padding at offset 1"},
      {"Zg=a", "base64: misplaced padding at offset 2"},
      {"Zg==Zg==", "base64: misplaced padding at offset 2"},
      {"Zm8=Zm9v", "base64: misplaced padding at offset 3"},
      {"Zg==Zm9v", "base64: misplaced padding at offset 2"},
      {"Zh==", "base64: unused bits set at offset 1"},
      {"Zm9=", "base64: unused bits set at offset 2"},
      {"Zm9vZ!==", "base64: bad character at offset 5"},
      {"Zm\xff=", "base64: bad character at offset 2"},
  };
  for (const Refusal& refusal : refusals) {
    const Result<std::string> decoded = Base64Decode(refusal.text);
    ASSERT_FALSE(decoded.has_value()) << refusal.text;
    EXPECT_EQ(decoded.error().message, refusal.message) << refusal.text;
    EXPECT_EQ(decoded.error().kind, ErrorKind::kInvalidParams);
  }
}

TEST(Base64Test, NamesTheOffsetOfABadByteAtAnyPlaceOfALongText) {
  for (size_t size : {148u, 149u, 150u}) {
    const std::string text = Base64Encode(Bytes(RandomBytes(size, 7)));
    const size_t characters = text.find_last_not_of('=') + 1;
    for (size_t place = 0; place < characters; ++place) {
      for (int byte = 0; byte < 256; ++byte) {
        std::string bad = text;
        bad[place] = static_cast<char>(byte);
        if (base64_kernels::kAlphabet.contains(bad[place])) continue;
        if (byte == '=' && place + 1 == characters && size % 3 != 1) continue;  // the character is valid padding
        const Result<std::string> decoded = Base64Decode(bad);
        ASSERT_FALSE(decoded.has_value()) << bad;
        ASSERT_EQ(decoded.error().message,
                  fmt::format("base64: {} at offset {}", byte == '=' ? "misplaced padding" : "bad character", place));
      }
    }
  }
}

// Among all texts of one group that can be decoded, no two decode to the same bytes.
TEST(Base64Test, AcceptsOnlyTheCanonicalText) {
  const std::string_view characters = "AQgw/+=";
  std::string text(4, '\0');
  for (size_t i = 0; i < 7 * 7 * 7 * 7; ++i) {
    size_t rest = i;
    for (char& c : text) c = characters[rest % 7], rest /= 7;
    const Result<std::string> decoded = Base64Decode(text);
    if (decoded.has_value()) EXPECT_EQ(NaiveEncode(*decoded), text);
  }
}

}  // namespace
}  // namespace holdfast
