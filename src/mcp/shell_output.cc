#include "mcp/shell_output.h"

#include <algorithm>

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

}  // namespace holdfast::mcp
