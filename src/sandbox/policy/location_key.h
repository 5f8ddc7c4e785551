// Parsers for the keys of a profile file, which name the locations of its entries. An error is only the reason; the
// caller puts the key in front.
#pragma once

#include <string_view>

#include "base/result.h"
#include "sandbox/policy/policy.h"

namespace holdfast::sandbox {

using Where = decltype(Entry::where);

// Parses a key that is a place (":root"), an absolute path or pattern, or a path or pattern below `home` ("~/x").
Result<Where> ParseKey(std::string_view key, std::string_view home);

// Parses a path that is absolute or below `home`. Characters of patterns have no meaning in it.
Result<AbsolutePath> ParseHomePath(std::string_view text, std::string_view home);

// Parses a key that is a path or pattern relative to each project root.
Result<Where> ParseProjectKey(std::string_view key);

}  // namespace holdfast::sandbox
