#include "sandbox/resolve/made_links.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>

#include "base/paths.h"
#include "sandbox/resolve/given_roots.h"
#include "sandbox/resolve/real_path.h"

namespace holdfast::sandbox {
namespace {

// Returns whether this user can make a link in the directory, or could before it gave the right up.
bool MayMakeLinks(const std::string& directory) {
  struct stat status;
  if (::lstat(directory.c_str(), &status) < 0 || status.st_uid == ::geteuid()) return true;
  return ::faccessat(AT_FDCWD, directory.c_str(), W_OK, AT_EACCESS) == 0;
}

}  // namespace

MadeLinks MadeLinks::In(const std::string& tmpdir, std::optional<int> given) {
  MadeLinks links;
  links.where_ = Where::kInRoots;
  links.given_ = given;
  for (const std::string& path : {std::string("/tmp"), std::string("/var/tmp"), tmpdir}) {
    auto real = path.starts_with('/') ? RealPath(path) : std::nullopt;
    if (real && *real != "/") links.open_.push_back(*std::move(real));
  }
  return links;
}

MadeLinks MadeLinks::Anywhere() {
  MadeLinks links;
  links.where_ = Where::kAnywhere;
  return links;
}

Result<bool> MadeLinks::Suspect(const CrossedLink& link) const {
  const std::string directory(ParentOf(link.path));
  if (where_ == Where::kNowhere) return false;
  if (where_ == Where::kAnywhere) return directory != "/" && directory != "/var" && MayMakeLinks(directory);
  const auto is_above = [&](const std::string& open) { return IsAtOrBelow(link.path, open); };
  if (std::ranges::any_of(open_, is_above)) return true;
  if (!given_ || !MayMakeLinks(directory)) return false;
  TRY(const GivenRoots given, GivenRoots::Read(*given_));
  return given.Contain(link.path);
}

}  // namespace holdfast::sandbox
