#include "apply_patch/parse.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "apply_patch/characters.h"
#include "base/result.h"
#include "base/utf8.h"

namespace holdfast::apply_patch {
namespace {

// The envelope of a patch: the lines `*** Begin Patch` and `*** End Patch` around its operations, and the lines of a
// shell heredoc that may be around these.

// A reader of lines, one after the other. A list of all lines could take too much memory. Up to two carriage returns at
// the end of a line are not part of it.
class LineReader {
 public:
  // Every line of `text` ends in a line feed.
  LineReader(std::string_view text, size_t first_number) : rest_(text), number_(first_number) {}

  std::optional<std::string_view> Peek() const;
  void Pop();

  size_t number() const { return number_; }  // the number of the line that Peek returns

 private:
  std::string_view rest_;
  size_t number_;
};

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

std::optional<std::string_view> LineReader::Peek() const {
  if (rest_.empty()) return std::nullopt;
  return WithoutReturns(rest_.substr(0, rest_.find('\n')));
}

void LineReader::Pop() {
  rest_.remove_prefix(rest_.find('\n') + 1);
  ++number_;
}

// Returns a reader of the lines between the first and the last line of the envelope. `text` must be UTF-8.
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

constexpr std::string_view kAdd = "*** Add File: ", kDelete = "*** Delete File: ", kUpdate = "*** Update File: ",
                           kMove = "*** Move to: ", kEndOfFile = "*** End of File",
                           kEnvironment = "*** Environment ID:", kChunk = "@@";

std::unexpected<Error> BadLine(const LineReader& lines, std::string_view problem) {
  return Fail(ErrorKind::kInvalidParams, fmt::format("line {} of the patch: {}", lines.number(), problem));
}

// Returns a line of the patch for a message.
std::string Quoted(std::string_view line) { return fmt::format("`{}`", Shortened(line, 120)); }

bool BeginsOperation(std::string_view line) {
  return std::ranges::any_of(std::array{kAdd, kDelete, kUpdate}, [&](auto word) { return line.starts_with(word); });
}

// Returns the path behind `word`, with which the line begins, and goes on to the next line.
Result<std::string_view> TakePath(LineReader& lines, std::string_view line, std::string_view word) {
  const std::string_view path = TrimEnd(line.substr(word.size()));
  if (path.empty()) return BadLine(lines, fmt::format("`{}` needs a path", TrimEnd(word)));
  if (path.contains('\0')) return BadLine(lines, "the path contains a NUL");
  lines.Pop();
  return path;
}

Result<Operation> ParseAdd(LineReader& lines, std::string_view header) {
  AddFile add;
  TRY(add.path, TakePath(lines, header, kAdd));
  while (const auto line = lines.Peek()) {
    if (!line->starts_with('+')) break;
    add.content.append(line->substr(1)).push_back('\n');
    lines.Pop();
  }
  return add;
}

Result<Operation> ParseDelete(LineReader& lines, std::string_view header) {
  TRY(const std::string_view path, TakePath(lines, header, kDelete));
  return DeleteFile{path};
}

std::optional<LineKind> KindOf(std::string_view line) {
  if (line.empty() || line[0] == ' ') return LineKind::kContext;
  if (line[0] == '-') return LineKind::kRemoved;
  if (line[0] == '+') return LineKind::kAdded;
  return std::nullopt;
}

void SkipBlankLines(LineReader& lines) {
  for (auto line = lines.Peek(); line && Trim(*line).empty(); line = lines.Peek()) lines.Pop();
}

// Parses the `@@` line, if there is one. Only the first chunk of an update may lack it.
Result<> ParseChunkHeader(LineReader& lines, Chunk& chunk, size_t chunks_before) {
  const std::string_view line = TrimEnd(*lines.Peek());
  if (!line.starts_with(kChunk)) {
    if (chunks_before == 0) return {};
    return BadLine(lines, fmt::format("expected `@@`, a file header or the end, found {}", Quoted(line)));
  }
  const std::string_view rest = line.substr(kChunk.size());
  if (!rest.empty() && rest[0] != ' ') return BadLine(lines, "a space is missing after `@@`");
  if (!rest.empty()) chunk.header = rest.substr(1);
  lines.Pop();
  return {};
}

Result<Chunk> ParseChunk(LineReader& lines, size_t chunks_before) {
  Chunk chunk{.line_number = lines.number(), .header = std::nullopt, .lines = {}};
  TRY_VOID(ParseChunkHeader(lines, chunk, chunks_before));
  while (const auto line = lines.Peek()) {
    if (line->starts_with(kChunk) || BeginsOperation(*line)) break;
    chunk.at_end_of_file = TrimEnd(*line) == kEndOfFile;
    if (chunk.at_end_of_file) break;
    const auto kind = KindOf(*line);
    if (!kind) {
      return BadLine(lines, fmt::format("a line of an update begins with ` `, `-` or `+`, found {}", Quoted(*line)));
    }
    chunk.lines.push_back({*kind, line->substr(std::min<size_t>(1, line->size()))});
    lines.Pop();
  }
  if (chunk.lines.empty()) {
    return BadLine(lines, fmt::format("the chunk at line {} has no lines", chunk.line_number));
  }
  if (chunk.at_end_of_file) {
    lines.Pop();
    SkipBlankLines(lines);
  }
  return chunk;
}

// Skips an empty line between the header of an update and its first `@@`, because it is not meant as a line of the
// file.
void SkipBlankBeforeFirstChunk(LineReader& lines) {
  LineReader ahead = lines;
  if (ahead.Peek() != "") return;
  ahead.Pop();
  if (const auto next = ahead.Peek(); next && next->starts_with(kChunk)) lines = ahead;
}

Result<Operation> ParseUpdate(LineReader& lines, std::string_view header) {
  UpdateFile update;
  TRY(update.path, TakePath(lines, header, kUpdate));
  if (const auto line = lines.Peek(); line && line->starts_with(kMove)) {
    TRY(update.move_to, TakePath(lines, *line, kMove));
  }
  SkipBlankBeforeFirstChunk(lines);
  for (auto line = lines.Peek(); line && !BeginsOperation(*line); line = lines.Peek()) {
    TRY(Chunk chunk, ParseChunk(lines, update.chunks.size()));
    update.chunks.push_back(std::move(chunk));
  }
  if (update.chunks.empty()) return BadLine(lines, fmt::format("the update of {} has no lines", update.path));
  return update;
}

// Parses one operation. Its header may be indented, except after the lines of an update, where an indented line is a
// context line.
Result<Operation> ParseOperation(LineReader& lines) {
  const std::string_view line = TrimStart(*lines.Peek());
  if (line.starts_with(kAdd)) return ParseAdd(lines, line);
  if (line.starts_with(kDelete)) return ParseDelete(lines, line);
  if (line.starts_with(kUpdate)) return ParseUpdate(lines, line);
  return BadLine(lines,
                 fmt::format("expected `*** Add File: PATH`, `*** Delete File: PATH` or `*** Update File: PATH`, "
                             "found {}",
                             Quoted(line)));
}

// Skips the line with an environment id, which may be any text: this program has only one environment.
Result<> SkipEnvironment(LineReader& lines) {
  const auto line = lines.Peek();
  if (!line || !Trim(*line).starts_with(kEnvironment)) return {};
  if (Trim(Trim(*line).substr(kEnvironment.size())).empty()) return BadLine(lines, "the environment id is empty");
  lines.Pop();
  return {};
}

}  // namespace

Result<Patch> ParsePatch(std::string_view text) {
  if (!IsUtf8(text)) return Fail(ErrorKind::kInvalidParams, "the patch is not UTF-8");
  TRY(LineReader lines, OpenEnvelope(text));
  TRY_VOID(SkipEnvironment(lines));
  Patch patch;
  while (lines.Peek()) {
    TRY(Operation operation, ParseOperation(lines));
    patch.operations.push_back(std::move(operation));
  }
  if (patch.operations.empty())
    return Fail(ErrorKind::kInvalidParams, "the patch has no operation: nothing is changed");
  return patch;
}

}  // namespace holdfast::apply_patch
