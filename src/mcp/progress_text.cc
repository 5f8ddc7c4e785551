#include "mcp/progress_text.h"

#include <utility>

#include <fmt/format.h>

#include "base/utf8.h"

namespace holdfast::mcp {

void ProgressText::Append(From from, std::string_view bytes) {
  std::string& incomplete = incomplete_[static_cast<size_t>(from)];
  std::string whole = std::exchange(incomplete, {});
  whole += bytes;
  const size_t tail = IncompleteTail(whole);
  incomplete = whole.substr(whole.size() - tail);
  whole.resize(whole.size() - tail);
  text_ += whole;
  if (text_.size() <= kMaxProgressBytes) return;
  size_t drop = text_.size() - kMaxProgressBytes;
  while (drop < text_.size() && (static_cast<unsigned char>(text_[drop]) & 0xc0) == 0x80) ++drop;
  omitted_ += drop;
  text_.erase(0, drop);
}

std::string ProgressText::Take() {
  std::string text = std::exchange(text_, {});
  const uint64_t omitted = std::exchange(omitted_, 0);
  return omitted == 0 ? text : fmt::format("[{} bytes were left out]\n{}", omitted, text);
}

}  // namespace holdfast::mcp
