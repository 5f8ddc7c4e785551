// A diagnostic is the first mistake in a rules file, with the place of it. `Text` renders it for people, in several
// lines:
//
//   error: the name `prefx_rule` is not defined
//    --> default.rules:3:1
//     |
//   3 | prefx_rule(pattern=["git"])
//     | ^
#pragma once

#include <expected>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/result.h"

namespace holdfast::starlark {

// The text of one file, and the name under which diagnostics speak of it. The text need not be UTF-8: a text that is
// not gets a diagnostic.
struct Source {
  std::string_view name, text;
};

// A place in a text. Lines and columns begin with 1, and columns count characters.
struct Position {
  int line = 1, column = 1;

  friend bool operator==(const Position&, const Position&) = default;
};

struct Diagnostic {
  // One call that was under way: `function` was called at `position`.
  struct Caller {
    std::string function;
    Position position;

    friend bool operator==(const Caller&, const Caller&) = default;
  };

  std::string file;
  Position position;
  std::string source_line;  // the line of the position, without its end
  std::string message;
  std::vector<Caller> callers = {};  // the innermost call first

  std::string Text() const;

  friend bool operator==(const Diagnostic&, const Diagnostic&) = default;
};

// Makes a diagnostic about a place of `source`, for a mistake that shows only after the run.
Diagnostic DiagnosticAt(const Source& source, Position position, std::string message);

// The errors of a program: a mistake is an Error whose place the parser or the evaluator adds.
template <typename... Arguments>
std::unexpected<Error> Mistake(fmt::format_string<Arguments...> format, Arguments&&... arguments) {
  return Fail(ErrorKind::kInvalidParams, fmt::format(format, std::forward<Arguments>(arguments)...));
}

}  // namespace holdfast::starlark
