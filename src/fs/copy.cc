#include "fs/copy.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <cerrno>
#include <utility>

#include <fmt/format.h>

#include "base/owned_fd.h"
#include "fs/copy_entry.h"
#include "fs/copy_tree.h"
#include "fs/file.h"
#include "sys/open.h"

namespace holdfast::fs {
namespace {

std::unexpected<Error> Refused(const std::string& source, std::string_view reason) {
  return Fail(ErrorKind::kInvalidRequest, fmt::format("copy {}: {}", source, reason));
}

}  // namespace

Result<> Copy(const std::string& source, const std::string& destination, Depth depth) {
  const size_t slash = source.rfind('/');
  const std::string name = slash + 1 < source.size() ? source.substr(slash + 1) : ".";
  TRY(const OwnedFd parent,
      sys::OpenAt(AT_FDCWD, source.substr(0, slash + 1), O_PATH | O_DIRECTORY, sys::Links::kFollow));
  struct stat status;
  if (::fstatat(parent.get(), name.c_str(), &status, AT_SYMLINK_NOFOLLOW) < 0) {
    return std::unexpected(ErrnoError("stat", source, errno));
  }
  const Target target{AT_FDCWD, destination, destination};
  switch (status.st_mode & S_IFMT) {
    case S_IFREG: {
      TRY(const File file, File::OpenForReadingAt(parent.get(), name, source));
      return CopyFile(file, target, sys::Links::kFollow);
    }
    case S_IFLNK: {
      TRY(const std::string text, ReadLink(parent.get(), name, source));
      return MakeLink(text, target);
    }
    case S_IFDIR: {
      if (depth != Depth::kTree) return Refused(source, "a directory is copied as a tree only");
      TRY(OwnedFd directory, sys::OpenAt(parent.get(), name, O_PATH | O_DIRECTORY, sys::Links::kNone));
      return CopyTree(std::move(directory), source, destination);
    }
    default:
      return Refused(source, "neither a regular file nor a directory nor a symbolic link");
  }
}

}  // namespace holdfast::fs
