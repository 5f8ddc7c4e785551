// Paths in the messages of the protocol. A client sends an absolute path or a file: URI, and the server answers with a
// file: URI. A path is a string of bytes, not text: names that are not UTF-8 are written with percent escapes.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace holdfast {

// Returns an absolute path without `.`, `..`, repeated or trailing slashes. Each `..` removes the component before it,
// or nothing at the root. This goes by the names alone, without regard to symbolic links.
Result<std::string> ParsePath(std::string_view text);

// Returns the file: URI of a path, which may contain any byte but NUL. ParsePath turns the URI into the same path
// again.
std::string FileUri(std::string_view absolute_path);

}  // namespace holdfast
