// The parser for patterns. It splits the text of a pattern into a directory to search and the names to look for in it.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "sandbox/policy/glob_match.h"

namespace holdfast::sandbox {

struct GlobTarget {
  std::string path;          // absolute; made of the names before the first name with a wildcard
  std::optional<Glob> glob;  // matches paths below `path`; absent without wildcards: the target is `path` itself
};

// Parses the pattern `text`, which is relative to the directory `base`. All characters of `base` stand for themselves.
// Every alternative of `{a,b}` becomes a target. `\x` stands for the character x itself, and a `[` that is not closed
// stands for itself too. A pattern with a slash at its end matches everything below the directory.
//
// Some patterns are refused, because a wrong guess at their meaning could leave files readable: a pattern without a
// directory before its first wildcard, `..` behind a wildcard, a slash in `[...]`, a brace without its partner, and too
// many alternatives.
Result<std::vector<GlobTarget>> ParseGlob(std::string_view base, std::string_view text);

// Returns whether a character of `text` has a special meaning in patterns.
bool HasGlobCharacters(std::string_view text);

}  // namespace holdfast::sandbox
