#include "files/disk/guarded_names.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "base/paths.h"
#include "sys/file_identity.h"
#include "sys/open.h"
#include "sys/placeholder.h"

namespace holdfast::files {
Result<GuardedNames> GuardedNames::Open(std::span<const std::string> absent, std::vector<std::string> mounted) {
  GuardedNames guarded;
  for (const std::string& path : absent) {
    TRY(OwnedFd directory, sys::OpenAt(AT_FDCWD, std::string(ParentOf(path)), O_PATH | O_DIRECTORY, sys::Links::kNone));
    guarded.absent_.push_back({path, std::move(directory), std::string(NameOf(path))});
  }
  guarded.mounts_ = ProtectedMounts(std::move(mounted));
  return guarded;
}

bool GuardedNames::AreMissing() const {
  return std::ranges::all_of(absent_, [](const Name& name) {
    struct stat status;
    const int flags = AT_SYMLINK_NOFOLLOW | AT_NO_AUTOMOUNT;
    if (::fstatat(name.directory.get(), name.name.c_str(), &status, flags) < 0) return errno == ENOENT;
    return sys::IsPlaceholderAt(name.directory.get(), name.name);
  });
}

bool GuardedNames::AreAsPlanned() const { return mounts_.AreInPlace() && AreMissing(); }

int GuardedNames::CheckChange(int directory, const std::string& name) const {
  const int refused = CheckDirectory(directory);
  return refused != 0 ? refused : CheckName(directory, name);
}

// The directory is already open. If it lay below an absent name, that name would exist, and AreAsPlanned would return
// false. The name may be a placeholder, but that is empty, so it is enough to compare the directory itself.
int GuardedNames::CheckDirectory(int directory) const {
  if (empty()) return 0;
  struct stat here, other;
  if (::fstat(directory, &here) < 0) return -errno;
  for (const Name& absent : absent_) {
    const int flags = AT_SYMLINK_NOFOLLOW | AT_NO_AUTOMOUNT;
    const bool exists = ::fstatat(absent.directory.get(), absent.name.c_str(), &other, flags) == 0;
    if (exists && sys::IsSameFile(here, other)) return -EROFS;
  }
  return AreAsPlanned() ? 0 : -EROFS;
}

int GuardedNames::CheckName(int directory, const std::string& name) const {
  struct stat here, other;
  for (const Name& absent : absent_) {
    if (name != absent.name) continue;
    if (::fstat(directory, &here) < 0 || ::fstat(absent.directory.get(), &other) < 0) return -errno;
    if (sys::IsSameFile(here, other)) return -EROFS;
  }
  return 0;
}

int GuardedNames::CheckSpelling(const std::string& path) const {
  return std::ranges::any_of(absent_, [&](const Name& name) { return IsAtOrBelow(path, name.path); }) ? -EROFS : 0;
}

}  // namespace holdfast::files
