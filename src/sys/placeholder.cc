#include "sys/placeholder.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <cstddef>
#include <string_view>

#include "base/owned_fd.h"
#include "sys/open.h"
#include "sys/permissions.h"

namespace holdfast::sys {
namespace {

std::atomic<bool> may_have_any_name = false;

// Returns whether the names of one call of getdents64 are only "." and "..". These come first if a file system has
// them.
bool HasOnlyDots(const std::byte* names, size_t size) {
  for (size_t at = 0; at < size;) {
    const auto* entry = reinterpret_cast<const dirent64*>(names + at);
    const std::string_view name(static_cast<const char*>(entry->d_name));
    if (name != "." && name != "..") return false;
    at += entry->d_reclen;
  }
  return true;
}

// Returns whether a directory is empty. A directory that cannot be read counts as not empty, so that it is left alone.
// A directory that was removed is empty.
bool IsEmptyDirectory(int fd) {
  const int opened = TryOpenAt(fd, ".", O_RDONLY | O_DIRECTORY, Links::kNone);
  if (opened < 0) return opened == -ENOENT;
  const OwnedFd directory(opened);
  alignas(dirent64) std::array<std::byte, 1024> names;
  for (;;) {
    const ssize_t size = ::getdents64(directory.get(), names.data(), names.size());
    if (size < 0) return errno == ENOENT;
    if (size == 0) return true;
    if (!HasOnlyDots(names.data(), static_cast<size_t>(size))) return false;
  }
}

// Opens a path that the kernel has in memory, with several attempts. The kernel returns EAGAIN not only for a path that
// is not in memory, but also for a moment while something nearby is renamed.
int TryOpenCached(int directory, const std::string& path) {
  constexpr int attempts = 3;
  int opened = -EAGAIN;
  for (int attempt = 0; attempt < attempts && opened == -EAGAIN; ++attempt) {
    opened = OpenCachedAt(directory, path, O_PATH, Links::kFollowToLast);
  }
  return opened;
}

bool IsPlaceholderInMemory(int directory, const std::string& path) {
  const int opened = TryOpenCached(directory, path);
  if (opened == -ENOSYS) return IsPlaceholderAt(directory, path);
  const OwnedFd fd(opened);
  return IsPlaceholder(fd.get());
}

// Keeps sandboxes from removing the placeholder until the descriptor is closed. A sandbox removes its placeholder under
// an exclusive lock, which a shared lock prevents.
bool HoldBack(int placeholder) {
  constexpr int attempts = 100;  // one per millisecond; a removal takes less than all of them
  for (int attempt = 0; attempt < attempts; ++attempt) {
    if (::flock(placeholder, LOCK_SH | LOCK_NB) == 0) return true;
    ::usleep(1000);
  }
  return false;
}

// Returns the mode bits that a directory inherits from its parent.
mode_t InheritedMode(int fd, mode_t mode) {
  struct stat above;
  if (!S_ISDIR(mode) || ::fstatat(fd, "..", &above, 0) < 0) return 0;
  return above.st_mode & S_ISGID;
}

}  // namespace

bool IsPlaceholder(int fd) {
  struct stat status;
  if (::fstat(fd, &status) < 0 || !HasPlaceholderMode(status.st_mode)) return false;
  return S_ISDIR(status.st_mode) ? IsEmptyDirectory(fd) : status.st_size == 0;
}

// The first check opens nothing, and rules out nearly every path.
bool IsPlaceholderAt(int directory, const std::string& path, Links links) {
  struct stat status;
  const int flags = AT_NO_AUTOMOUNT | (links == Links::kFollow ? 0 : AT_SYMLINK_NOFOLLOW);
  if (::fstatat(directory, path.c_str(), &status, flags) < 0 || !HasPlaceholderMode(status.st_mode)) return false;
  const OwnedFd opened(TryOpenAt(directory, path, O_PATH, links));
  return IsPlaceholder(opened.get());
}

bool IsListedPlaceholder(int directory, const std::string& name) {
  if (name.starts_with('.')) return IsPlaceholderAt(directory, name);
  return may_have_any_name.load(std::memory_order_relaxed) && IsPlaceholderInMemory(directory, name);
}

void ExpectPlaceholdersOfAnyName() { may_have_any_name = true; }

// A directory or file of another user is left alone, whatever its mode, because it may be meant as a trap.
int AdoptPlaceholder(int directory, const std::string& path, mode_t mode, Links links) {
  const OwnedFd placeholder(TryOpenAt(directory, path, O_RDONLY | O_NONBLOCK, links));
  if (!IsPlaceholder(placeholder.get())) return -ENOENT;
  if (!HoldBack(placeholder.get())) return -EBUSY;
  struct stat status;
  if (::fstat(placeholder.get(), &status) < 0) return -errno;
  const bool is_left = status.st_nlink > 0 && HasPlaceholderMode(status.st_mode);
  if (!is_left || status.st_uid != ::geteuid()) return -ENOENT;
  if ((status.st_mode & S_IFMT) != (mode & S_IFMT)) return -EBUSY;
  const mode_t permissions = (mode & ACCESSPERMS & ~FileModeMask()) | InheritedMode(placeholder.get(), status.st_mode);
  return ::fchmod(placeholder.get(), permissions) < 0 ? -errno : 0;
}

// The function tries several times, because a placeholder may be removed between mkdirat and AdoptPlaceholder.
int MakeOrAdoptDirectory(int directory, const std::string& name, mode_t mode) {
  constexpr int attempts = 10;
  for (int attempt = 0; attempt < attempts; ++attempt) {
    if (::mkdirat(directory, name.c_str(), mode) == 0) return 0;
    if (errno != EEXIST) return -errno;
    const int adopted = AdoptPlaceholder(directory, name, S_IFDIR | mode);
    if (adopted != -ENOENT) return adopted;
    struct stat status;
    if (::fstatat(directory, name.c_str(), &status, AT_SYMLINK_NOFOLLOW | AT_NO_AUTOMOUNT) == 0) return -EEXIST;
  }
  return -EBUSY;
}

}  // namespace holdfast::sys
