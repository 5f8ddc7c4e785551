// Where an entry of a profile applies, made from the text of the entry. Errors hold the reason only; the caller knows
// what the text is called.
#pragma once

#include <cstddef>
#include <string_view>

#include "base/result.h"
#include "sandbox/policy/policy.h"

namespace holdfast::sandbox {

inline constexpr size_t kMaxEntries = 4096;
inline constexpr size_t kMaxPathBytes = 4095;  // the kernel takes no longer path

// An absolute path or a file: URI. `.`, `..` and needless slashes are removed by name, before any link is looked at.
Result<AbsolutePath> ParseAbsolutePath(std::string_view text);

// Absolute, or below each project root, which `codex-project-roots://` in front says explicitly. Other URIs are
// refused: as patterns they would match nothing, and so deny nothing. What the characters mean is for
// sandbox/policy/glob_parse.h.
Result<Pattern> ParsePattern(std::string_view text);

// Below each project root, without `..`; `.` is the root itself.
Result<Place> ParseProjectPlace(std::string_view subpath);

// Refuses what nobody could enforce: a pattern that grants, a place of a later version that is denied, the minimal set
// of system directories as anything but readable.
Result<> CheckEnforceable(const Entry& entry);

}  // namespace holdfast::sandbox
