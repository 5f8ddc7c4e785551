#include "files/disk/place.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <optional>

#include "sys/read_link.h"

namespace holdfast::files {
namespace {

constexpr int kMaxLinks = 40;  // the kernel's own limit

std::unexpected<Error> Failed(const std::string& path, int errno_value) { return FailErrno("open", path, errno_value); }

struct Parts {
  std::string parent, name;
};

Parts Split(const std::string& path) {
  const size_t slash = path.rfind('/');
  if (slash == std::string::npos) return {".", path};
  return {path.substr(0, slash + 1), path.substr(slash + 1)};
}

bool CanNameAFile(const std::string& name) { return !name.empty() && name != "." && name != ".."; }

bool IsPlantedIn(int directory, const struct stat& link) {
  struct stat status;
  if (::fstat(directory, &status) < 0) return true;
  const bool shared = (status.st_mode & S_ISVTX) != 0 && (status.st_mode & S_IWOTH) != 0;
  return shared && link.st_uid != ::geteuid() && link.st_uid != status.st_uid;
}

// Returns the text of the link, or nothing if the name is not a link or does not exist. The text and the checked owner
// belong to the same link, even if another process replaces it meanwhile.
Result<std::optional<std::string>> LinkAt(const Place& place, const std::string& path) {
  const int opened = sys::TryOpenAt(place.directory.get(), place.name, O_PATH, sys::Links::kFollowToLast);
  if (opened == -ENOENT) return std::nullopt;
  if (opened < 0) return Failed(path, -opened);
  const OwnedFd fd(opened);
  struct stat status;
  if (::fstat(fd.get(), &status) < 0) return Failed(path, errno);
  if (!S_ISLNK(status.st_mode)) return std::nullopt;
  if (IsPlantedIn(place.directory.get(), status)) return Failed(path, EACCES);
  return sys::ReadLinkAt(fd.get(), "", path);
}

Result<Place> FindPlace(const std::string& path, Symlinks symlinks) {
  Place place{OwnedFd(), path};
  for (int links = 0; links <= kMaxLinks; ++links) {
    Parts parts = Split(place.name);
    if (!CanNameAFile(parts.name)) return Failed(path, EISDIR);
    const int from = place.directory.is_open() ? place.directory.get() : AT_FDCWD;
    const int opened = sys::TryOpenAt(from, parts.parent, O_PATH | O_DIRECTORY, LinksOf(symlinks));
    if (opened < 0) return Failed(path, -opened);
    place = {OwnedFd(opened), std::move(parts.name)};
    TRY(std::optional<std::string> link, LinkAt(place, path));
    if (!link) return place;
    if (symlinks == Symlinks::kRefuse) return Failed(path, ELOOP);
    place.name = *std::move(link);
  }
  return Failed(path, ELOOP);
}

}  // namespace

Result<Place> FindPlaceToChange(const std::string& path, Symlinks symlinks, const GuardedNames& guarded) {
  TRY(Place place, FindPlace(path, symlinks));
  if (const int refused = guarded.CheckChange(place.directory.get(), place.name)) return Failed(path, -refused);
  return place;
}

std::expected<Place, int> FindNameToChange(const std::string& path, sys::Links links, const GuardedNames& guarded) {
  Parts parts = Split(path);
  if (parts.name.empty()) return std::unexpected(EBUSY);
  const int opened = sys::TryOpenAt(AT_FDCWD, parts.parent, O_PATH | O_DIRECTORY, links);
  if (opened < 0) return std::unexpected(-opened);
  Place place{OwnedFd(opened), std::move(parts.name)};
  if (const int refused = guarded.CheckChange(opened, place.name)) return std::unexpected(-refused);
  return place;
}

}  // namespace holdfast::files
