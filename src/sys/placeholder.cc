#include "sys/placeholder.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <cstddef>
#include <fstream>
#include <string_view>

#include "base/owned_fd.h"
#include "sys/open.h"

namespace holdfast::sys {
namespace {

std::atomic<bool> may_have_any_name = false;

// Whether the names of one reading are "." and ".." alone; they come first where a file system has them.
bool HasOnlyDots(const std::byte* names, size_t size) {
  for (size_t at = 0; at < size;) {
    const auto* entry = reinterpret_cast<const dirent64*>(names + at);
    const std::string_view name(static_cast<const char*>(entry->d_name));
    if (name != "." && name != "..") return false;
    at += entry->d_reclen;
  }
  return true;
}

// A directory that cannot be looked into counts as filled: it is left alone then. One that was removed has no names.
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

// The kernel gives up for a moment while something nearby is renamed, as it does for what it would have to fetch.
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

// The umask of this process. The call that tells it also changes it, for all threads, so the kernel's own account of it
// is read instead.
mode_t FileModeMask() {
  constexpr mode_t usual = 022;
  std::ifstream account("/proc/self/status");
  for (std::string word; account >> word;) {
    unsigned mask = 0;
    if (word == "Umask:") return account >> std::oct >> mask ? mask : usual;
  }
  return usual;
}

// A sandbox removes its placeholder under an exclusive lock. A shared one holds it back, until the descriptor is
// closed.
bool HoldBack(int placeholder) {
  constexpr int attempts = 100;  // a millisecond apart: a removal takes less
  for (int attempt = 0; attempt < attempts; ++attempt) {
    if (::flock(placeholder, LOCK_SH | LOCK_NB) == 0) return true;
    ::usleep(1000);
  }
  return false;
}

// What a new directory has from the one above it.
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

// The first look opens nothing: it is enough for nearly every path.
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

// Another user's directory or file is left to that user, whatever its mode: it may be meant as a trap.
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

// A placeholder may go between the two looks at it.
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
