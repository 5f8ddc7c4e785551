// OpenSSL recommends its EVP interface, but that links every algorithm it knows, 4 MB for one digest, and reads the
// configuration of the machine. The deprecated functions do neither.
#define OPENSSL_SUPPRESS_DEPRECATED
#include "base/sha256.h"

#include <openssl/sha.h>

#include <array>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace holdfast {

struct Sha256::State {
  SHA256_CTX context;
};

// The functions of OpenSSL that are used here always return 1, so their results are ignored.
Sha256::Sha256() : state_(std::make_unique<State>()) { (void)::SHA256_Init(&state_->context); }
Sha256::~Sha256() = default;

void Sha256::Update(std::span<const std::byte> bytes) {
  (void)::SHA256_Update(&state_->context, bytes.data(), bytes.size());
}

std::array<unsigned char, 32> Sha256::Digest() {
  std::array<unsigned char, SHA256_DIGEST_LENGTH> digest;
  (void)::SHA256_Final(digest.data(), &state_->context);
  return digest;
}

std::string Sha256::HexDigest() { return fmt::format("{:02x}", fmt::join(Digest(), "")); }

std::string Sha256Hex(std::string_view text) {
  Sha256 digest;
  digest.Update(std::as_bytes(std::span(text)));
  return digest.HexDigest();
}

}  // namespace holdfast
