// The path of a program that a command or a rule names, by the names alone: no function follows links.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "exec_policy/evaluation.h"

namespace holdfast::exec_policy {

// Returns an absolute path without empty components, `.` and `..`. Where a link comes before a `..`, the result is the
// name of another file.
std::string Folded(std::string_view path);

// Returns whether the path has a component `..`.
bool GoesUp(std::string_view path);

// Returns the absolute path of a program, without `.` and `..`. A relative program is below the current directory, and
// one that begins with `~/` below the home directory. Nothing is the path of an empty program,
// or of one that is longer than any path can be.
std::optional<std::string> PathOfProgram(std::string_view program, const Places& places);

}  // namespace holdfast::exec_policy
