// The text of a pattern, taken apart: the directory to search, and what to look for in it.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "sandbox/policy/glob_match.h"

namespace holdfast::sandbox {

struct GlobTarget {
  std::string path;          // absolute; the names before the first with a wildcard
  std::optional<Glob> glob;  // of what is below `path`; absent: `path` itself is meant, there is no wildcard
};

// `text` is below the directory `base`, whose characters all stand for themselves. Every alternative of `{a,b}` is a
// target. `\x` is a plain x; a `[` that is not closed is one too; a slash at the end means what is in the directory.
//
// Refused, because guessing could leave something readable: nothing but wildcards below the root of the file system,
// `..` behind a wildcard, a slash in `[...]`, braces without their partner, too many alternatives.
Result<std::vector<GlobTarget>> ParseGlob(std::string_view base, std::string_view text);

// Whether some character of `text` has a meaning of its own in a pattern.
bool HasGlobCharacters(std::string_view text);

}  // namespace holdfast::sandbox
