// Protected names are names in a project that tell tools what to run. Directly below a writable root they are read-only
// unless a rule names them. A write rule for a path below such a name makes only that path writable.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace holdfast::sandbox {

// `.git`, `.codex`, `.agents`, `.aws`.
extern const std::vector<std::string> kProtectedNames;

bool IsProtectedName(std::string_view name);

// The kind of placeholder that is made where a path is missing and must stay missing. A mount covers it.
enum class PlaceholderKind { kDirectory, kFile };
constexpr PlaceholderKind LastOf(PlaceholderKind) { return PlaceholderKind::kFile; }

// Returns kDirectory for a protected name, because git ignores an empty `.git` directory but fails at an empty `.git`
// file; kFile for any other name.
PlaceholderKind PlaceholderKindFor(std::string_view path);

}  // namespace holdfast::sandbox
