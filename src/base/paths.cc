#include "base/paths.h"

#include <cstddef>
#include <ranges>

namespace holdfast {
namespace {

std::vector<std::string_view> Split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  for (const auto part : std::views::split(text, separator)) parts.emplace_back(part);
  return parts;
}

}  // namespace

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

std::vector<std::string_view> NamesIn(std::string_view path) {
  std::vector<std::string_view> names = Split(path, '/');
  std::erase_if(names, [](std::string_view name) { return name.empty() || name == "."; });
  return names;
}

std::vector<std::string_view> DirectoriesIn(std::string_view search_path) { return Split(search_path, ':'); }

}  // namespace holdfast
