#include "escalate/caller/joined_path.h"

#include "base/paths.h"

namespace holdfast::escalate {

std::string JoinedPath(std::string_view directory, std::string_view path) {
  std::string joined;
  if (!path.starts_with('/')) {
    for (const std::string_view name : NamesIn(directory)) joined.append("/").append(name);
  }
  for (const std::string_view name : NamesIn(path)) joined.append("/").append(name);
  return joined.empty() ? "/" : joined;
}

}  // namespace holdfast::escalate
