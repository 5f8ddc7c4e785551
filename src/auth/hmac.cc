// HMAC() of OpenSSL would link every algorithm that it knows, and read the configuration of the machine
// (base/sha256.cc).
#include "auth/hmac.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <span>

#include "base/sha256.h"

namespace holdfast::auth {
namespace {

constexpr size_t kBlockBytes = 64;  // of SHA-256
constexpr auto kInner = std::byte{0x36}, kOuter = std::byte{0x5c};

using Block = std::array<std::byte, kBlockBytes>;
using Digest = std::array<unsigned char, 32>;

Digest DigestOf(std::span<const std::byte> first, std::span<const std::byte> second) {
  Sha256 digest;
  digest.Update(first);
  digest.Update(second);
  return digest.Digest();
}

// Returns the key that fills a block: a longer secret is replaced by its digest, and a shorter one ends in zeros.
Block KeyOf(std::string_view secret) {
  Block key{};
  std::span<const std::byte> bytes = std::as_bytes(std::span(secret));
  Digest digest;
  if (bytes.size() > key.size()) {
    digest = DigestOf(bytes, {});
    bytes = std::as_bytes(std::span(digest));
  }
  std::ranges::copy(bytes, key.begin());
  return key;
}

Block Masked(Block key, std::byte mask) {
  for (std::byte& byte : key) byte ^= mask;
  return key;
}

}  // namespace

std::string HmacSha256(std::string_view text, std::string_view secret) {
  const Block key = KeyOf(secret);
  const Digest inner = DigestOf(Masked(key, kInner), std::as_bytes(std::span(text)));
  const Digest outer = DigestOf(Masked(key, kOuter), std::as_bytes(std::span(inner)));
  return {reinterpret_cast<const char*>(outer.data()), outer.size()};
}

}  // namespace holdfast::auth
