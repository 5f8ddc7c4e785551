#include "apply_patch/envelope.h"

#include <algorithm>

#include <fmt/format.h>

#include "apply_patch/characters.h"

namespace holdfast::apply_patch {
namespace {

constexpr std::string_view kBegin = "*** Begin Patch", kEnd = "*** End Patch";

std::string_view WithoutReturns(std::string_view line) {
  for (int i = 0; i < 2 && line.ends_with('\r'); ++i) line.remove_suffix(1);
  return line;
}

// A text, split into its first line, its last line, and the lines between them, each of these with its line feed.
struct FramedText {
  std::string_view first, between, last;
};

// Splits a text. If it has only one line, that is the first line, and the last line is empty.
FramedText SplitFrame(std::string_view text) {
  const size_t first_end = text.find('\n'), last_end = text.rfind('\n');
  if (first_end == std::string_view::npos) return {.first = WithoutReturns(text), .between = {}, .last = {}};
  return {.first = WithoutReturns(text.substr(0, first_end)),
          .between = text.substr(first_end + 1, last_end - first_end),
          .last = WithoutReturns(text.substr(last_end + 1))};
}

std::string_view WithoutLastFeed(std::string_view text) {
  if (text.ends_with('\n')) text.remove_suffix(1);
  return text;
}

bool IsHeredoc(const FramedText& frame) {
  const bool begins = frame.first == "<<EOF" || frame.first == "<<'EOF'" || frame.first == "<<\"EOF\"";
  return begins && frame.last.ends_with("EOF");
}

bool IsPatch(const FramedText& frame) { return Trim(frame.first) == kBegin && Trim(frame.last) == kEnd; }

std::unexpected<Error> BadEnvelope(const FramedText& frame, size_t first_number) {
  if (Trim(frame.first) != kBegin) {
    return Fail(ErrorKind::kInvalidParams, fmt::format("line {} of the patch: expected `{}`", first_number, kBegin));
  }
  return Fail(ErrorKind::kInvalidParams, fmt::format("the last line of the patch is not `{}`", kEnd));
}

}  // namespace

std::optional<std::string_view> LineReader::Peek() const {
  if (rest_.empty()) return std::nullopt;
  return WithoutReturns(rest_.substr(0, rest_.find('\n')));
}

void LineReader::Pop() {
  rest_.remove_prefix(rest_.find('\n') + 1);
  ++number_;
}

Result<LineReader> OpenEnvelope(std::string_view text) {
  const std::string_view stripped = Trim(text);
  const auto skipped = text.substr(0, text.size() - TrimStart(text).size());
  size_t number = 1 + static_cast<size_t>(std::ranges::count(skipped, '\n'));
  FramedText frame = SplitFrame(stripped);
  if (IsPatch(frame)) return LineReader(frame.between, number + 1);
  if (IsHeredoc(frame)) {
    frame = SplitFrame(WithoutLastFeed(frame.between));
    ++number;
    if (IsPatch(frame)) return LineReader(frame.between, number + 1);
  }
  return BadEnvelope(frame, number);
}

}  // namespace holdfast::apply_patch
