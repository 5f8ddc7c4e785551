// The path of a program that its caller names relative to a directory.
#pragma once

#include <string>
#include <string_view>

namespace holdfast::escalate {

// Returns the relative path below the directory, without the parts "." at its beginning. It stays as it is otherwise:
// to fold ".." would lead elsewhere where a link comes before it.
std::string JoinedPath(std::string directory, std::string_view path);

}  // namespace holdfast::escalate
