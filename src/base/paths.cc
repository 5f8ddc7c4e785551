#include "base/paths.h"

#include <cstddef>

namespace holdfast {

std::string_view ParentOf(std::string_view path) {
  const size_t slash = path.rfind('/');
  return slash == 0 || slash == std::string_view::npos ? "/" : path.substr(0, slash);
}

std::string_view NameOf(std::string_view path) { return path.substr(path.rfind('/') + 1); }

bool IsBelow(std::string_view path, std::string_view directory) {
  if (directory.empty() || path.size() <= directory.size() || !path.starts_with(directory)) return false;
  return directory == "/" || path[directory.size()] == '/';
}

bool IsAtOrBelow(std::string_view path, std::string_view directory) {
  return path == directory || IsBelow(path, directory);
}

}  // namespace holdfast
