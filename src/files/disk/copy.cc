#include "files/disk/copy.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <cerrno>
#include <utility>

#include <fmt/format.h>

#include "base/owned_fd.h"
#include "files/disk/copy_entry.h"
#include "files/disk/copy_tree.h"
#include "files/disk/file.h"
#include "files/disk/place.h"
#include "sys/open.h"
#include "sys/placeholder.h"
#include "sys/read_link.h"

namespace holdfast::files {
namespace {

std::unexpected<Error> Refused(const std::string& source, std::string_view reason) {
  return Fail(ErrorKind::kInvalidRequest, fmt::format("copy {}: {}", source, reason));
}

// Copies a file. A link at the destination is followed by the kernel if there are no guarded names. Otherwise the place
// that the link leads to is found first, and checked.
Result<> CopyFileTo(const File& file, const std::string& destination, const GuardedNames& guarded) {
  if (guarded.empty()) return CopyFile(file, {AT_FDCWD, destination, destination}, sys::Links::kFollow);
  TRY(const Place place, FindPlaceToChange(destination, Symlinks::kFollow, guarded));
  return CopyFile(file, {place.directory.get(), place.name, destination}, sys::Links::kNone);
}

Result<> CopyLinkTo(const std::string& text, const std::string& destination, const GuardedNames& guarded) {
  const auto place = FindNameToChange(destination, sys::Links::kFollow, guarded);
  if (!place) return FailErrno("symlink", destination, place.error());
  return MakeLink(text, {place->directory.get(), place->name, destination});
}

}  // namespace

Result<> Copy(const std::string& source, const std::string& destination, Depth depth, const GuardedNames& guarded) {
  const size_t slash = source.rfind('/');
  const std::string name = slash + 1 < source.size() ? source.substr(slash + 1) : ".";
  TRY(const OwnedFd parent,
      sys::OpenAt(AT_FDCWD, source.substr(0, slash + 1), O_PATH | O_DIRECTORY, sys::Links::kFollow));
  struct stat status;
  if (::fstatat(parent.get(), name.c_str(), &status, AT_SYMLINK_NOFOLLOW) < 0) return FailErrno("stat", source);
  // A guarded name that must stay absent is not read either if another process has made it meanwhile.
  const bool is_absent = guarded.CheckChange(parent.get(), name) != 0 || sys::IsPlaceholderAt(parent.get(), name);
  if (is_absent) return FailErrno("stat", source, ENOENT);
  switch (status.st_mode & S_IFMT) {
    case S_IFREG: {
      TRY(const File file, File::OpenForReadingAt(parent.get(), name, source));
      return CopyFileTo(file, destination, guarded);
    }
    case S_IFLNK: {
      TRY(const std::string text, sys::ReadLinkAt(parent.get(), name, source));
      return CopyLinkTo(text, destination, guarded);
    }
    case S_IFDIR: {
      if (depth != Depth::kTree) return Refused(source, "a directory is copied as a tree only");
      TRY(OwnedFd directory, sys::OpenAt(parent.get(), name, O_PATH | O_DIRECTORY, sys::Links::kNone));
      return CopyTree(std::move(directory), source, destination, guarded);
    }
    default:
      return Refused(source, "neither a regular file nor a directory nor a symbolic link");
  }
}

}  // namespace holdfast::files
