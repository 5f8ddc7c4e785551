#include "cli/private_server/runtime_file.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <cerrno>
#include <fstream>
#include <optional>
#include <sstream>
#include <string_view>
#include <thread>

#include <fmt/format.h>

#include "base/parse_number.h"
#include "base/paths.h"

namespace holdfast::cli {
namespace {

using namespace std::chrono_literals;

constexpr mode_t kOwnerOnly = 0600;
// flock has no time limit of its own, and a lock that is given back makes no event.
constexpr auto kLockPause = 20ms;

std::unexpected<Error> Unsafe(const std::string& path, std::string_view reason) {
  return Fail(ErrorKind::kPermissionDenied, fmt::format("{} {}; remove it", path, reason));
}

std::unexpected<Error> CannotOpen(const std::string& path, int reason) {
  if (reason == ELOOP) return Unsafe(path, "is a link");
  // A pipe that nobody reads, a socket, or a directory.
  if (reason == ENXIO || reason == EISDIR) return Unsafe(path, "is not a regular file");
  return FailErrno("open", path, reason);
}

// Returns the owner of the lock on the file with this number, by a line of /proc/locks such as
// "1: FLOCK  ADVISORY  WRITE 708 00:13:12345 0 EOF".
std::optional<pid_t> OwnerIn(const std::string& line, std::string_view file) {
  std::istringstream words(line);
  std::string number, type, kind, mode, owner, place;
  words >> number >> type >> kind >> mode >> owner >> place;
  if (type != "FLOCK" || place != file) return std::nullopt;
  return ParseNumber<pid_t>(owner);
}

std::optional<pid_t> OwnerOfLock(int file) {
  struct stat status;
  if (::fstat(file, &status) < 0) return std::nullopt;
  const std::string number = fmt::format("{:02x}:{:02x}:{}", major(status.st_dev), minor(status.st_dev), status.st_ino);
  std::ifstream locks("/proc/locks");
  for (std::string line; std::getline(locks, line);) {
    if (const auto owner = OwnerIn(line, number); owner && *owner > 0) return owner;
  }
  return std::nullopt;
}

std::string HolderOf(int file) {
  const auto owner = OwnerOfLock(file);
  if (!owner) return "a process that /proc does not show";
  std::ifstream comm(fmt::format("/proc/{}/comm", *owner));
  std::string name;
  std::getline(comm, name);
  return fmt::format("process {} ({})", *owner, name);
}

}  // namespace

Result<OwnedFd> OpenRuntimeFile(int directory, const std::string& path, int flags) {
  const std::string name(NameOf(path));
  OwnedFd file(
      ::openat(directory, name.c_str(), flags | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC, kOwnerOnly));
  struct stat status;
  if (!file.is_open()) return CannotOpen(path, errno);
  if (::fstat(file.get(), &status) < 0) return FailErrno("stat", path);
  if (!S_ISREG(status.st_mode)) return Unsafe(path, "is not a regular file");
  if (status.st_uid != ::geteuid()) return Unsafe(path, "belongs to another user");
  if (status.st_nlink != 1) return Unsafe(path, "has another name too");
  return file;
}

Result<> LockRuntimeFile(int file, const std::string& path, std::chrono::milliseconds limit) {
  const auto end = std::chrono::steady_clock::now() + limit;
  while (::flock(file, LOCK_EX | LOCK_NB) < 0) {
    if (errno != EWOULDBLOCK && errno != EINTR) return FailErrno("flock", path);
    if (std::chrono::steady_clock::now() >= end) {
      return Fail(ErrorKind::kTimeout, fmt::format("the lock {} is held by {}, and was not given back within {} ms; "
                                                   "wait for that process or end it",
                                                   path, HolderOf(file), limit.count()));
    }
    std::this_thread::sleep_for(kLockPause);
  }
  return {};
}

}  // namespace holdfast::cli
