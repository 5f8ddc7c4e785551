#include "apply_patch/file_lines.h"

#include <algorithm>

namespace holdfast::apply_patch {
namespace {

size_t EndLength(std::string_view at_end) {
  if (at_end.empty()) return 0;
  return at_end.starts_with("\r\n") ? 2 : 1;
}

}  // namespace

FileLines::FileLines(std::string_view content) : content_(content) {
  // Each kind of line end is searched for only when its last place has been passed, so that a file without one kind is
  // not searched to its end again for each line.
  size_t feed = content.find('\n'), carriage_return = content.find('\r');
  for (size_t start = 0; start < content.size();) {
    if (feed < start) feed = content.find('\n', start);
    if (carriage_return < start) carriage_return = content.find('\r', start);
    const size_t text_end = std::min({feed, carriage_return, content.size()});
    const size_t end_length = EndLength(content.substr(text_end));
    if (line_end_.empty()) line_end_ = content.substr(text_end, end_length);
    texts_.push_back(content.substr(start, text_end - start));
    start = text_end + end_length;
  }
  if (line_end_.empty()) line_end_ = "\n";
}

void FileLines::AppendTo(std::string& out, size_t line) const {
  const char* const next = line + 1 < size() ? texts_[line + 1].data() : content_.data() + content_.size();
  const std::string_view bytes(texts_[line].data(), next);
  out += bytes;
  if (bytes.size() == texts_[line].size()) out += line_end_;
}

}  // namespace holdfast::apply_patch
