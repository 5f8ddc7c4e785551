// Parsers for the text by which an entry of a profile names its location: a path, a pattern or a place. An error is
// only the reason, such as "is empty"; the caller puts the name of the faulty member in front.
#pragma once

#include <cstddef>
#include <string_view>

#include "base/result.h"
#include "sandbox/policy/policy.h"

namespace holdfast::sandbox {

inline constexpr size_t kMaxEntries = 4096;
inline constexpr size_t kMaxPathBytes = 4095;  // the kernel accepts no longer path

// Parses an absolute path or a file: URI. `.`, `..` and needless slashes are removed from the text alone: `a/..`
// disappears even where `a` is a link to another directory.
Result<AbsolutePath> ParseAbsolutePath(std::string_view text);

// Parses a pattern that is absolute, or relative to each project root; the prefix `codex-project-roots://` marks a
// relative pattern explicitly. Other URIs are refused: as patterns they would match nothing, and so deny nothing. The
// wildcards in the text are parsed later, by sandbox/policy/glob_parse.h.
Result<Pattern> ParsePattern(std::string_view text);

// Parses a path relative to each project root. It must not contain `..`; `.` stands for the root itself.
Result<Place> ParseProjectPlace(std::string_view subpath);

// Refuses an entry that the sandbox cannot enforce: a pattern that grants access, an unknown place that is denied, and
// the minimal system directories with any access but reading.
Result<> CheckEnforceable(const Entry& entry);

}  // namespace holdfast::sandbox
