// Paths as they cross the wire: in as an absolute path or a file: URI, out as a file: URI. A path is raw bytes, not
// text: percent escapes carry names that are not UTF-8.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace holdfast {

// Returns an absolute path without `.`, `..`, repeated or trailing slashes. `..` is removed by name, before any
// symbolic link is looked at, and stays at the root when there is nothing left to remove.
Result<std::string> ParsePath(std::string_view text);

// `absolute_path` may hold any byte but NUL; ParsePath returns it again.
std::string FileUri(std::string_view absolute_path);

}  // namespace holdfast
