#include "sandbox/plan/private_dirs.h"

#include <sys/stat.h>

#include <algorithm>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "base/paths.h"
#include "runtime_dir/runtime_dir.h"
#include "sandbox/resolve/real_path.h"

namespace holdfast::sandbox {
namespace {

constexpr mode_t kOwnerOnly = 0700;

std::optional<std::string> WithoutLinks(const std::string& place) {
  const auto above = RealPath(std::string(ParentOf(place)));
  if (!above) return std::nullopt;
  return fmt::format("{}/{}", *above == "/" ? "" : *above, NameOf(place));
}

}  // namespace

std::vector<std::string> FindPrivateDirs(std::vector<std::string> places, const Resolution& resolution) {
  if (places.empty()) places = runtime_dir::PlacesOfRuntimeDir();
  std::vector<std::string> found;
  for (const std::string& place : places) {
    auto path = WithoutLinks(place);
    if (!path || std::ranges::find(found, *path) != found.end() || IsBelow(*path, "/dev")) continue;
    struct stat status;
    const bool is_there = ::lstat(path->c_str(), &status) == 0;
    if (is_there && S_ISLNK(status.st_mode)) continue;
    if (!is_there && AccessTo(resolution, *path) == Access::kWrite) {
      (void)::mkdir(path->c_str(), kOwnerOnly);  // if this fails, the plan keeps the name from being made
    }
    found.push_back(*std::move(path));
  }
  return found;
}

}  // namespace holdfast::sandbox
