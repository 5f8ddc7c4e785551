#include "sandbox/resolve/protected_names.h"

#include <algorithm>

#include "base/paths.h"

namespace holdfast::sandbox {

const std::vector<std::string> kProtectedNames = {".git", ".codex", ".agents", ".aws"};

bool IsProtectedName(std::string_view name) {
  return std::ranges::find(kProtectedNames, name) != kProtectedNames.end();
}

PlaceholderKind PlaceholderKindFor(std::string_view path) {
  return IsProtectedName(NameOf(path)) ? PlaceholderKind::kDirectory : PlaceholderKind::kFile;
}

}  // namespace holdfast::sandbox
