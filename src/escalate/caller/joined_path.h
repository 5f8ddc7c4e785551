// The absolute path of a program, as its caller names it.
#pragma once

#include <string>
#include <string_view>

namespace holdfast::escalate {

// Returns the path, below the directory if it is relative, without the parts "." and without empty parts. It stays as
// it is otherwise: to fold ".." would lead elsewhere where a link comes before it.
std::string JoinedPath(std::string_view directory, std::string_view path);

}  // namespace holdfast::escalate
