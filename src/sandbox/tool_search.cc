#include "sandbox/tool_search.h"

#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <utility>

#include "base/paths.h"
#include "sandbox/real_path.h"

namespace holdfast::sandbox {
namespace {

// A place may be one file, and a program is where its links lead, as is a place.
bool IsIn(std::string_view program, const std::string& place) {
  if (place == "/") return false;
  const std::optional<std::string> real = RealPath(place);
  return IsAtOrBelow(program, place) || (real && IsAtOrBelow(program, *real));
}

// The next directory of a list with colons between them, which is taken off it.
std::string_view TakeDirectory(std::string_view& list) {
  const std::string_view directory = list.substr(0, list.find(':'));
  list.remove_prefix(std::min(list.size(), directory.size() + 1));
  return directory;
}

}  // namespace

std::optional<std::string> FindTool(const ToolSearch& search,
                                    const std::function<bool(const std::string& path)>& accept) {
  for (std::string_view rest = search.path_variable; !rest.empty();) {
    const std::string_view directory = TakeDirectory(rest);
    if (!directory.starts_with('/')) continue;
    const std::string named = std::string(directory).append("/").append(search.name);
    // Most directories do not have it: one call shows that, while the real path takes one for every name in it.
    if (::access(named.c_str(), F_OK) < 0) continue;
    std::optional<std::string> program = RealPath(named);
    if (!program) continue;
    if (std::ranges::any_of(search.untrusted, [&](const std::string& place) { return IsIn(*program, place); }))
      continue;
    if (accept(*program)) return program;
  }
  return std::nullopt;
}

}  // namespace holdfast::sandbox
