// The SHA-256 digest of bytes that are passed in several parts.
#pragma once

#include <array>
#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>

namespace holdfast {

class Sha256 {
 public:
  Sha256();
  ~Sha256();

  void Update(std::span<const std::byte> bytes);

  // Returns the digest, HexDigest in lower-case hexadecimal digits. This ends the computation: no function may be
  // called afterwards.
  std::array<unsigned char, 32> Digest();
  std::string HexDigest();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// Returns the digest of a text that is there as a whole, in the same form.
std::string Sha256Hex(std::string_view text);

}  // namespace holdfast
