#include "starlark/run.h"

#include <algorithm>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/utf8.h"
#include "starlark/characters.h"
#include "starlark/evaluator.h"
#include "starlark/function.h"
#include "starlark/native.h"
#include "starlark/parser.h"

namespace holdfast::starlark {
namespace {

// The lines of a text, for turning offsets into positions. A whole file may be one line, so characters are counted from
// the nearest of several places.
class Lines {
 public:
  explicit Lines(std::string_view text) : text_(text) {
    for (size_t begin = 0; begin < text.size(); begin += kStride) {
      counts_.push_back(counts_.back() + CountCharacters(text.substr(begin, kStride)));
    }
    for (size_t end = text.find('\n'); end != std::string_view::npos; end = text.find('\n', end + 1)) {
      begins_.push_back(end + 1);
    }
  }

  Position PositionOf(size_t offset) const {
    const auto line = std::prev(std::ranges::upper_bound(begins_, offset));
    const size_t column = CharactersBefore(offset) - CharactersBefore(*line);
    return {.line = static_cast<int>(line - begins_.begin()) + 1, .column = static_cast<int>(column) + 1};
  }

 private:
  static constexpr size_t kStride = 256;

  size_t CharactersBefore(size_t offset) const {
    const size_t stride = offset / kStride;
    return counts_[stride] + CountCharacters(text_.substr(stride * kStride, offset % kStride));
  }

  std::string_view text_;
  std::vector<size_t> counts_ = {0};  // the characters before each multiple of kStride
  std::vector<size_t> begins_ = {0};
};

// The functions that a program can use without defining them, by name.
class Predeclared {
 public:
  explicit Predeclared(std::span<const HostFunction> host) {
    functions_.reserve(Builtins().size() + host.size());
    for (const NativeEntry& builtin : Builtins()) {
      functions_.push_back({builtin.name, Native{builtin.code, None{}}});
    }
    for (const HostFunction& function : host) functions_.push_back({function.name, &function});
    for (const Function& function : functions_) values_[function.name] = &function;
  }

  const Value* Find(std::string_view name) const {
    const auto found = values_.find(name);
    return found == values_.end() ? nullptr : &found->second;
  }

 private:
  std::vector<Function> functions_;
  std::unordered_map<std::string_view, Value> values_;
};

// Returns why the text is not a program at all, if it is none.
std::optional<Diagnostic> CheckText(const Source& source, const Limits& limits) {
  if (source.text.size() > std::min<size_t>(limits.text_bytes, UINT32_MAX)) {
    return Diagnostic{.file = std::string(source.name),
                      .position = {},
                      .source_line = {},
                      .message = fmt::format("the file has more than {} bytes", limits.text_bytes)};
  }
  if (IsUtf8(source.text)) return std::nullopt;
  size_t offset = 0;
  while (const size_t length = Utf8Length(source.text.substr(offset))) offset += length;
  Diagnostic diagnostic = DiagnosticAt(source, Lines(source.text).PositionOf(offset), "the text is not UTF-8");
  diagnostic.source_line.clear();  // it cannot be shown
  return diagnostic;
}

}  // namespace

std::expected<void, Diagnostic> Run(const Source& source, std::span<const HostFunction> host, const Limits& limits) {
  Budget budget(limits);
  return Run(source, host, budget);
}

std::expected<void, Diagnostic> Run(const Source& source, std::span<const HostFunction> host, Budget& budget) {
  if (auto diagnostic = CheckText(source, budget.limits())) return std::unexpected(*std::move(diagnostic));
  if (const auto affordable = budget.Spend(source.text.size() / 4); !affordable) {  // the work of the parser
    return std::unexpected(DiagnosticAt(source, {}, affordable.error().message));
  }
  const Lines lines(source.text);
  const Predeclared predeclared(host);
  Tree tree;
  Parser parser(source.text, tree);
  const auto program = parser.Parse([&](std::string_view name) { return predeclared.Find(name); });
  if (!program) {
    return std::unexpected(DiagnosticAt(source, lines.PositionOf(parser.mistake_offset()), program.error().message));
  }
  Heap heap(budget);
  Evaluator evaluator(heap, budget.limits(), [&](uint32_t offset) { return lines.PositionOf(offset); });
  const auto done = evaluator.Run(*program);
  if (done) return {};
  Diagnostic diagnostic = DiagnosticAt(source, lines.PositionOf(evaluator.mistake_offset()), done.error().message);
  for (const auto& [function, offset] : evaluator.calls()) {
    diagnostic.callers.push_back({std::string(function), lines.PositionOf(offset)});
  }
  return std::unexpected(std::move(diagnostic));
}

}  // namespace holdfast::starlark
