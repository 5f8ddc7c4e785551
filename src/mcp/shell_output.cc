#include "mcp/shell_output.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "base/utf8.h"

namespace holdfast::mcp {
namespace {

// Returns the beginning of a stream of which `kept` is kept: at most `bytes` bytes, and less if a character would be
// split.
std::string_view Beginning(std::string_view kept, uint64_t total, size_t bytes) {
  const std::string_view beginning = kept.substr(0, bytes);
  if (beginning.size() == total) return beginning;
  return beginning.substr(0, beginning.size() - IncompleteTail(beginning));
}

}  // namespace

void ShellOutput::Stream::Append(std::string_view bytes) {
  total += bytes.size();
  kept += bytes.substr(0, kMaxOutputBytes - kept.size());
}

std::string ShellOutput::Text() const {
  const size_t for_out = kMaxOutputBytes / 3, for_err = kMaxOutputBytes - for_out;
  const size_t err_room = std::max(for_err, kMaxOutputBytes - out_.kept.size());
  const std::string_view err = Beginning(err_.kept, err_.total, err_room);
  const std::string_view out = Beginning(out_.kept, out_.total, kMaxOutputBytes - err.size());
  std::string text(out);
  text += err;
  const uint64_t omitted = total_bytes() - text.size();
  if (omitted > 0) {
    text += fmt::format("\n[{} bytes were left out: {} of stdout, {} of stderr]\n", omitted, out_.total - out.size(),
                        err_.total - err.size());
  }
  return text;
}

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
