// SHA-256 of bytes that come in parts.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>

struct SHA256state_st;

namespace holdfast {

class Sha256 {
 public:
  Sha256();
  ~Sha256();

  void Update(std::span<const std::byte> bytes);

  // Lower case. Ends the computation: nothing may be called afterwards.
  std::string HexDigest();

 private:
  std::unique_ptr<SHA256state_st> state_;
};

}  // namespace holdfast
