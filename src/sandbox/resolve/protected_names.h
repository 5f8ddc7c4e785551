// Names in a project that tell tools what to run. Directly below a writable root they are read-only unless a rule names
// them; a write rule further below opens only what it names.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace holdfast::sandbox {

// `.git`, `.codex`, `.agents`, `.aws`.
extern const std::vector<std::string> kProtectedNames;

bool IsProtectedName(std::string_view name);

// What is put in the place of a path that is missing and must stay so, for a mount to lie on.
enum class PlaceholderKind { kDirectory, kFile };

// A directory for a protected name: an empty `.git` directory is nothing to git, an empty file an error.
PlaceholderKind PlaceholderKindFor(std::string_view path);

}  // namespace holdfast::sandbox
