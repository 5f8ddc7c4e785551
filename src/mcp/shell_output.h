// ShellOutput keeps the part of a command's output that the result of a call has room for: the beginning of each
// stream, and of both together at most kMaxOutputBytes. The rest is only counted, and the text tells how much it was.
#pragma once

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

}  // namespace holdfast::mcp
