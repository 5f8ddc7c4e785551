// ProgressText collects the output of a command that progress notifications will show. A client that reads slowly, or a
// command that writes much, does not make it grow: beyond kMaxProgressBytes the oldest text is left out.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace holdfast::mcp {

inline constexpr size_t kMaxProgressBytes = 64u << 10;

class ProgressText {
 public:
  enum class From { kOut, kErr };

  void Append(From from, std::string_view bytes);

  bool empty() const { return text_.empty() && omitted_ == 0; }

  // Returns the text since the last call. A character that is not complete yet is kept back.
  std::string Take();

 private:
  std::string text_;
  std::array<std::string, 2> incomplete_;  // of each stream, the beginning of its last character
  uint64_t omitted_ = 0;                   // bytes since the last Take
};

}  // namespace holdfast::mcp
