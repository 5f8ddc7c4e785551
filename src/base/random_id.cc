#include "base/random_id.h"

#include <openssl/crypto.h>
#include <sys/random.h>

#include <array>
#include <cerrno>
#include <cstdint>
#include <span>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/check.h"

namespace holdfast {
namespace {

// Fills the bytes from the kernel. A signal may interrupt the call while the kernel still gathers entropy at boot; the
// call cannot fail in any other way.
void FillRandom(std::span<uint8_t> bytes) {
  while (!bytes.empty()) {
    const ssize_t got = ::getrandom(bytes.data(), bytes.size(), 0);
    CHECK(got > 0 || (got < 0 && errno == EINTR));
    if (got > 0) bytes = bytes.subspan(static_cast<size_t>(got));
  }
}

std::string Hex(std::span<const uint8_t> bytes) { return fmt::format("{:02x}", fmt::join(bytes, "")); }

}  // namespace

std::string RandomUuid() {
  std::array<uint8_t, 16> bytes;
  FillRandom(bytes);
  bytes[6] = static_cast<uint8_t>((bytes[6] & 0x0f) | 0x40);
  bytes[8] = static_cast<uint8_t>((bytes[8] & 0x3f) | 0x80);
  const std::span all(bytes);
  return fmt::format("{}-{}-{}-{}-{}", Hex(all.subspan(0, 4)), Hex(all.subspan(4, 2)), Hex(all.subspan(6, 2)),
                     Hex(all.subspan(8, 2)), Hex(all.subspan(10)));
}

std::string RandomSecret() {
  std::array<uint8_t, 24> bytes;
  FillRandom(bytes);
  return Hex(bytes);
}

bool IsSameSecret(std::string_view given, std::string_view expected) {
  return given.size() == expected.size() && CRYPTO_memcmp(given.data(), expected.data(), given.size()) == 0;
}

}  // namespace holdfast
