#include "starlark/diagnostic.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "base/shown_text.h"
#include "starlark/characters.h"

namespace holdfast::starlark {
namespace {

// Returns a line of the text without its end.
std::string_view LineOf(std::string_view text, int line) {
  for (; line > 1 && text.contains('\n'); --line) text.remove_prefix(text.find('\n') + 1);
  text = text.substr(0, text.find('\n'));
  return text.ends_with('\r') ? text.substr(0, text.size() - 1) : text;
}

// A line can be too long for a terminal: the part around the column is shown.
constexpr int kShownColumns = 160;

}  // namespace

// The text comes from the file, so none of it reaches a terminal as it is.
std::string Diagnostic::Text() const {
  const int skipped = position.column > kShownColumns ? position.column - kShownColumns / 2 : 0;
  std::string_view shown = source_line;
  shown.remove_prefix(OffsetOfCharacter(shown, static_cast<size_t>(skipped)));
  shown = shown.substr(0, OffsetOfCharacter(shown, kShownColumns));
  const size_t caret = OffsetOfCharacter(shown, static_cast<size_t>(position.column - 1 - skipped));
  const std::string name = ShownExcerpt(file);
  const std::string before_caret(CountCharacters(ShownExcerpt(shown.substr(0, caret))), ' ');
  const std::string number = fmt::to_string(position.line);
  const std::string margin(number.size(), ' ');
  std::string text =
      fmt::format("error: {}\n{}--> {}:{}:{}\n{} |\n{} | {}\n{} | {}^\n", ShownExcerpt(message), margin, name,
                  position.line, position.column, margin, number, ShownExcerpt(shown), margin, before_caret);
  for (const Caller& caller : callers) {
    text += fmt::format("{}in {}, called at {}:{}:{}\n", margin, ShownExcerpt(caller.function, 100), name,
                        caller.position.line, caller.position.column);
  }
  return text;
}

Diagnostic DiagnosticAt(const Source& source, Position position, std::string message) {
  return {.file = std::string(source.name),
          .position = position,
          .source_line = std::string(LineOf(source.text, position.line)),
          .message = std::move(message)};
}

}  // namespace holdfast::starlark
