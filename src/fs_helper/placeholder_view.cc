#include "fs_helper/placeholder_view.h"

#include <fcntl.h>
#include <linux/magic.h>
#include <sys/stat.h>
#include <sys/vfs.h>

#include <cerrno>

#include "base/file_uri.h"
#include "fs/directory_reader.h"
#include "sandbox/placeholder_modes.h"
#include "sys/open.h"

namespace holdfast::fs_helper {
namespace {

enum class Kind { kNone, kDirectory, kFile };

// By what one call tells, which rules out nearly everything.
Kind LooksLike(const std::string& path, LastLink last_link) {
  struct statx status;
  const int flags = AT_NO_AUTOMOUNT | AT_STATX_DONT_SYNC | (last_link == LastLink::kKeep ? AT_SYMLINK_NOFOLLOW : 0);
  constexpr unsigned wanted = STATX_TYPE | STATX_MODE | STATX_SIZE;
  if (::statx(AT_FDCWD, path.c_str(), flags, wanted, &status) < 0) return Kind::kNone;
  if ((status.stx_attributes & STATX_ATTR_MOUNT_ROOT) == 0) return Kind::kNone;
  const uint32_t mode = status.stx_mode & ALLPERMS;
  if (S_ISDIR(status.stx_mode) && mode == sandbox::kCoverDirectoryMode) return Kind::kDirectory;
  if (S_ISREG(status.stx_mode) && mode == sandbox::kCoverFileMode && status.stx_size == 0) return Kind::kFile;
  return Kind::kNone;
}

bool IsEmptyDirectory(const std::string& path) {
  const int opened = sys::TryOpenAt(AT_FDCWD, path, O_RDONLY | O_DIRECTORY, sys::Links::kFollow);
  if (opened < 0) return false;
  fs::DirectoryReader reader{OwnedFd(opened)};
  const auto first = reader.Next();
  return first && !first->has_value();
}

bool IsOnTmpfs(const std::string& path) {
  struct statfs status;
  return ::statfs(path.c_str(), &status) == 0 && status.f_type == TMPFS_MAGIC;
}

bool IsPlaceholder(const std::string& path, LastLink last_link) {
  const Kind kind = LooksLike(path, last_link);
  return kind != Kind::kNone && IsOnTmpfs(path) && (kind == Kind::kFile || IsEmptyDirectory(path));
}

}  // namespace

Result<> CheckPlaceholder(const Claim& claim, LastLink last_link) {
  if (!IsPlaceholder(claim.path, last_link)) return {};
  if (claim.access == Access::kRead) return std::unexpected(ErrnoError("open", claim.path, ENOENT));
  return std::unexpected(ErrnoError("write", claim.path, EROFS));
}

// A link to one points nowhere. A name that is no UTF-8 is not found by what the client sees of it, and stays.
void HidePlaceholders(const std::string& path, wire::FsReadDirectoryResult& result) {
  const std::string directory = path.ends_with('/') ? path : path + "/";
  std::erase_if(result.entries, [&](const wire::FsDirectoryEntry& entry) {
    return IsPlaceholder(directory + entry.file_name, LastLink::kFollow);
  });
}

// Nothing is below one.
void HidePlaceholders(const std::string&, wire::FsWalkResult& result) {
  std::erase_if(result.entries, [](const wire::FsWalkEntry& entry) {
    const auto path = ParsePath(entry.path);
    return path && IsPlaceholder(*path, LastLink::kFollow);
  });
}

}  // namespace holdfast::fs_helper
