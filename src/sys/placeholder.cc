#include "sys/placeholder.h"

#include <dirent.h>
#include <fcntl.h>
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

// A directory that cannot be looked into counts as filled: it is left alone then.
bool IsEmptyDirectory(int fd) {
  const OwnedFd directory(TryOpenAt(fd, ".", O_RDONLY | O_DIRECTORY, Links::kNone));
  if (!directory.is_open()) return false;
  alignas(dirent64) std::array<std::byte, 1024> names;
  for (;;) {
    const ssize_t size = ::getdents64(directory.get(), names.data(), names.size());
    if (size < 0) return false;
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

int AdoptPlaceholder(int directory, const std::string& path, mode_t mode, Links links) {
  const OwnedFd placeholder(TryOpenAt(directory, path, O_RDONLY | O_NONBLOCK, links));
  struct stat status;
  if (!IsPlaceholder(placeholder.get()) || ::fstat(placeholder.get(), &status) < 0) return -ENOENT;
  if ((status.st_mode & S_IFMT) != (mode & S_IFMT)) return -EBUSY;
  return ::fchmod(placeholder.get(), mode & ACCESSPERMS & ~FileModeMask()) < 0 ? -errno : 0;
}

int MakeOrAdoptDirectory(int directory, const std::string& name, mode_t mode) {
  if (::mkdirat(directory, name.c_str(), mode) == 0) return 0;
  if (errno != EEXIST) return -errno;
  const int adopted = AdoptPlaceholder(directory, name, S_IFDIR | mode);
  return adopted == -ENOENT ? -EEXIST : adopted;
}

}  // namespace holdfast::sys
