// ShellOutput keeps the part of a command's output that the result of a call has room for: the beginning of each
// stream, and of both together at most kMaxOutputBytes. The rest is only counted, and the text says how much it was.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace holdfast::mcp {

inline constexpr size_t kMaxOutputBytes = 1u << 20;

class ShellOutput {
 public:
  void AppendOut(std::string_view bytes) { out_.Append(bytes); }
  void AppendErr(std::string_view bytes) { err_.Append(bytes); }

  uint64_t total_bytes() const { return out_.total + err_.total; }

  // Returns all of standard output and then all of standard error, as far as there is room. If both are long, standard
  // output gets a third of the room, and each gets what the other leaves. Characters are not split.
  std::string Text() const;

 private:
  struct Stream {
    void Append(std::string_view bytes);

    std::string kept = {};
    uint64_t total = 0;
  };

  Stream out_, err_;
};

// ProgressText collects the output of a command that progress notifications will show. A client that reads slowly, or a
// command that writes much, does not make it grow: beyond kMaxProgressBytes the oldest text is left out.
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
