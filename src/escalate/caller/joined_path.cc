#include "escalate/caller/joined_path.h"

#include <algorithm>

namespace holdfast::escalate {

std::string JoinedPath(std::string directory, std::string_view path) {
  while (path.starts_with("./")) path.remove_prefix(std::min(path.find_first_not_of('/', 1), path.size()));
  if (!directory.ends_with('/')) directory += '/';
  return directory.append(path);
}

}  // namespace holdfast::escalate
