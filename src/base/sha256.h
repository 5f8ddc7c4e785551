// SHA-256 of bytes that come in parts.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>

namespace holdfast {

class Sha256 {
 public:
  Sha256();
  ~Sha256();

  void Update(std::span<const std::byte> bytes);

  // Lower case. Ends the computation: nothing may be called afterwards.
  std::string HexDigest();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace holdfast
