#include "apply_patch/match.h"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <optional>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "apply_patch/characters.h"
#include "apply_patch/line_search.h"

namespace holdfast::apply_patch {
namespace {

size_t EndLength(std::string_view at_end) {
  if (at_end.empty()) return 0;
  return at_end.starts_with("\r\n") ? 2 : 1;
}

// One change of consecutive lines of the file. Context lines are never part of an edit, so they keep their bytes.
struct Edit {
  size_t start;
  size_t removed = 0;
  std::vector<std::string_view> added = {};
};

// Appends the edits of a chunk whose old lines begin at line `start` of the file.
void AddEdits(std::vector<Edit>& edits, size_t start, std::span<const PatchLine> lines) {
  bool goes_on = false;
  for (const PatchLine& line : lines) {
    if (line.kind == LineKind::kContext) {
      ++start;
    } else {
      if (!goes_on) edits.push_back({start});
      if (line.kind == LineKind::kAdded) edits.back().added.push_back(line.text);
      if (line.kind == LineKind::kRemoved) ++edits.back().removed, ++start;
    }
    goes_on = line.kind != LineKind::kContext;
  }
}

std::vector<std::string_view> OldLines(std::span<const PatchLine> lines) {
  std::vector<std::string_view> old;
  for (const PatchLine& line : lines) {
    if (line.is_old()) old.push_back(line.text);
  }
  return old;
}

// Returns the index of the last line for which `is_part` holds if that line is empty, and npos otherwise.
size_t LastIfEmpty(std::span<const PatchLine> lines, bool (PatchLine::*is_part)() const) {
  for (size_t i = lines.size(); i-- > 0;) {
    if ((lines[i].*is_part)()) return lines[i].text.empty() ? i : std::string_view::npos;
  }
  return std::string_view::npos;
}

// Returns the chunk without the empty line at the end of its old lines, and without the one at the end of its new lines
// if there is one: a blank line behind a chunk is often not meant. A context line that is dropped from the old lines
// only becomes an added line, and one that is dropped from the new lines only becomes a removed line. Returns nothing
// if the old lines do not end in an empty line.
std::optional<std::vector<PatchLine>> WithoutLastBlank(std::span<const PatchLine> lines) {
  const size_t old_end = LastIfEmpty(lines, &PatchLine::is_old), new_end = LastIfEmpty(lines, &PatchLine::is_new);
  if (old_end == std::string_view::npos) return std::nullopt;
  std::vector<PatchLine> kept;
  for (size_t i = 0; i < lines.size(); ++i) {
    const bool is_old = lines[i].is_old() && i != old_end, is_new = lines[i].is_new() && i != new_end;
    if (!is_old && !is_new) continue;
    const LineKind kind = !is_new ? LineKind::kRemoved : !is_old ? LineKind::kAdded : LineKind::kContext;
    kept.push_back({kind, lines[i].text});
  }
  return kept;
}

constexpr size_t kMostBytesShown = 200;  // of a line in a message

// Returns the old lines of a chunk for a message.
std::string Shown(std::span<const PatchLine> lines) {
  constexpr size_t most_lines = 20;
  std::string text;
  size_t shown = 0;
  for (const PatchLine& line : lines) {
    if (!line.is_old()) continue;
    if (++shown > most_lines) return text + "\n  ...";
    text += "\n  " + Shortened(line.text, kMostBytesShown);
  }
  return text;
}

class Matcher {
 public:
  explicit Matcher(const FileLines& file) : file_(file), search_(file.texts()) {}

  Result<> Place(const Chunk& chunk) {
    TRY_VOID(PassHeader(chunk));
    if (std::ranges::none_of(chunk.lines, &PatchLine::is_old)) return AcceptPlace(file_.size(), cursor_, chunk.lines);
    if (const auto start = Find(chunk, chunk.lines)) return AcceptPlace(*start, *start, chunk.lines);
    const auto shorter = WithoutLastBlank(chunk.lines);
    const auto start = shorter ? Find(chunk, *shorter) : std::nullopt;
    if (start) return AcceptPlace(*start, *start, *shorter);
    return Fail(ErrorKind::kNotFound, Missing(chunk) + Shown(chunk.lines));
  }

  // Returns the edits in the order of the file. Additions at its end come last, in the order of the patch.
  std::vector<Edit> TakeEdits() {
    std::ranges::move(edits_at_end_, std::back_inserter(edits_));
    return std::move(edits_);
  }

 private:
  Result<> PassHeader(const Chunk& chunk) {
    if (!chunk.header) return {};
    const auto found = search_.Find(std::span(&*chunk.header, 1), cursor_);
    if (!found) {
      return Fail(ErrorKind::kNotFound,
                  fmt::format("line {} of the patch: `@@ {}`: the file has no such line at or after line {}",
                              chunk.line_number, Shortened(*chunk.header, kMostBytesShown), cursor_ + 1));
    }
    cursor_ = *found + 1;
    return {};
  }

  std::optional<size_t> Find(const Chunk& chunk, std::span<const PatchLine> lines) {
    const auto old = OldLines(lines);
    if (old.empty()) return cursor_;
    return chunk.at_end_of_file ? search_.FindAtEnd(old, cursor_) : search_.Find(old, cursor_);
  }

  // Accepts the place of a chunk: its old lines begin at `start`. The next chunk is searched from `cursor` on, behind
  // the old lines.
  Result<> AcceptPlace(size_t start, size_t cursor, std::span<const PatchLine> lines) {
    cursor_ = cursor + static_cast<size_t>(std::ranges::count_if(lines, &PatchLine::is_old));
    AddEdits(edits_, start, lines);
    if (edits_.empty() || edits_.back().start < file_.size()) return {};
    edits_at_end_.push_back(std::move(edits_.back()));
    edits_.pop_back();
    return {};
  }

  std::string Missing(const Chunk& chunk) const {
    const std::string lines = fmt::format("the lines of the chunk at line {} of the patch", chunk.line_number);
    if (!chunk.at_end_of_file) return fmt::format("{} are not in the file from line {} on:", lines, cursor_ + 1);
    const std::string after = cursor_ > 0 ? fmt::format("after line {} ", cursor_) : "";
    return fmt::format("{}the file does not end with {}:", after, lines);
  }

  const FileLines& file_;
  LineSearch search_;
  size_t cursor_ = 0;  // the first line at which the next chunk may begin
  std::vector<Edit> edits_, edits_at_end_;
};

std::string Rewritten(const FileLines& file, std::string_view content, std::span<const Edit> edits) {
  size_t expected_size = content.size() + file.line_end().size();
  for (const Edit& edit : edits) {
    for (const std::string_view line : edit.added) expected_size += line.size() + file.line_end().size();
  }
  std::string out;
  out.reserve(expected_size);
  size_t next = 0;
  for (const Edit& edit : edits) {
    while (next < edit.start) file.AppendTo(out, next++);
    for (const std::string_view line : edit.added) out.append(line).append(file.line_end());
    next += edit.removed;
  }
  while (next < file.size()) file.AppendTo(out, next++);
  return out;
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

Result<std::string> ApplyChunks(std::string_view content, std::span<const Chunk> chunks) {
  const FileLines file(content);
  Matcher matcher(file);
  for (const Chunk& chunk : chunks) TRY_VOID(matcher.Place(chunk));
  return Rewritten(file, content, matcher.TakeEdits());
}

}  // namespace holdfast::apply_patch
