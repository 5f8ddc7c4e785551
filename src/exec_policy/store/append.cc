#include "exec_policy/store/append.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <ranges>
#include <string_view>
#include <thread>

#include <fmt/format.h>

#include "base/owned_fd.h"
#include "base/paths.h"
#include "base/utf8.h"
#include "exec_policy/rule.h"
#include "exec_policy/store/rules_file.h"
#include "sys/file_identity.h"
#include "sys/open.h"

namespace holdfast::exec_policy {
namespace {

using Clock = std::chrono::steady_clock;

Result<> MakeDirectories(const std::string& path) {
  if (::access(path.c_str(), F_OK) == 0 || path == "/") return {};
  TRY_VOID(MakeDirectories(std::string(ParentOf(path))));
  if (::mkdir(path.c_str(), 0700) < 0 && errno != EEXIST) return FailErrno("mkdir", path);
  return {};
}

Result<> Sync(int fd, const std::string& path) {
  while (::fsync(fd) < 0) {
    if (errno != EINTR) return FailErrno("fsync", path);
  }
  return {};
}

// Waits in short steps: a process that may only read the file can hold its lock for ever, and must not stop this one.
Result<> Lock(int fd, const std::string& path, Clock::time_point deadline) {
  while (::flock(fd, LOCK_EX | LOCK_NB) < 0) {
    if (errno != EWOULDBLOCK && errno != EINTR) return FailErrno("flock", path);
    if (Clock::now() >= deadline) {
      return Fail(ErrorKind::kLimit, fmt::format("lock {}: another process has held the lock for too long", path));
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  return {};
}

// Opens the file and locks it. A file that was replaced while this process waited is opened again.
Result<OwnedFd> OpenLocked(const std::string& path, Clock::time_point deadline) {
  for (;;) {
    TRY(OwnedFd fd, sys::OpenAt(AT_FDCWD, path, O_RDWR | O_CREAT | O_NONBLOCK, sys::Links::kFollowToLast, 0600));
    TRY_VOID(Lock(fd.get(), path, deadline));
    struct stat locked, current;
    if (::fstat(fd.get(), &locked) < 0) return FailErrno("stat", path);
    if (!S_ISREG(locked.st_mode)) return Fail(ErrorKind::kSystem, fmt::format("{} is not a regular file", path));
    TRY_VOID(CheckTrust(path, locked));
    if (::lstat(path.c_str(), &current) == 0 && sys::IsSameFile(locked, current)) return fd;
    if (Clock::now() >= deadline) return Fail(ErrorKind::kLimit, fmt::format("{} is replaced all the time", path));
  }
}

bool HasLine(std::string_view text, std::string_view line) {
  return std::ranges::any_of(std::views::split(text, '\n'),
                             [line](auto part) { return std::string_view(part) == line; });
}

Result<> WriteAt(int fd, const std::string& path, std::string_view text, size_t offset) {
  while (!text.empty()) {
    const ssize_t n = ::pwrite(fd, text.data(), text.size(), static_cast<off_t>(offset));
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return FailErrno("write", path, n < 0 ? errno : ENOSPC);
    text.remove_prefix(static_cast<size_t>(n));
    offset += static_cast<size_t>(n);
  }
  return Sync(fd, path);
}

// Writes a line at the end of the file, which has `size` bytes, first as a comment.
Result<> WriteLine(int fd, const std::string& path, size_t size, std::string_view line) {
  const Result<> written = WriteAt(fd, path, fmt::format("#{}\n", line.substr(1)), size);
  if (written) return WriteAt(fd, path, line.substr(0, 1), size);
  (void)::ftruncate(fd, static_cast<off_t>(size));  // a part of a comment that stays does no harm
  return written;
}

Result<> CheckPrefix(std::span<const std::string> prefix) {
  if (prefix.empty()) return Fail(ErrorKind::kInvalidParams, "a rule needs at least the name of a program");
  if (std::ranges::all_of(prefix, IsUtf8)) return {};
  return Fail(ErrorKind::kInvalidParams, "a rules file is UTF-8, and a word of the command is not");
}

}  // namespace

Result<Appended> AppendRule(const std::string& path, std::span<const std::string> prefix, Decision decision,
                            std::chrono::milliseconds patience) {
  TRY_VOID(CheckPrefix(prefix));
  const std::string directory(ParentOf(path));
  TRY_VOID(MakeDirectories(directory));
  TRY(const OwnedFd fd, OpenLocked(path, Clock::now() + patience));
  TRY(const std::string text, ReadText(fd.get(), path));
  const std::string line = RuleText(prefix, decision);
  if (HasLine(text, line)) return Appended::kWasThere;
  const bool is_line_open = !text.empty() && !text.ends_with('\n');
  if (is_line_open) TRY_VOID(WriteAt(fd.get(), path, "\n", text.size()));
  TRY_VOID(WriteLine(fd.get(), path, text.size() + (is_line_open ? 1 : 0), line));
  TRY(const OwnedFd parent, sys::OpenAt(AT_FDCWD, directory, O_RDONLY | O_DIRECTORY, sys::Links::kFollow));
  TRY_VOID(Sync(parent.get(), directory));  // the entry of a file that was made
  return Appended::kYes;
}

}  // namespace holdfast::exec_policy
