#include "sandbox/placeholders.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include <fmt/format.h>

#include "sys/open.h"

namespace holdfast::sandbox {
namespace {

constexpr mode_t kDirectoryMode = S_ISVTX | 0555;
constexpr mode_t kFileMode = S_ISVTX | 0444;
constexpr int kMaxAttempts = 100;  // a millisecond apart, against others that make and remove the same one

constexpr char kDone = 'd';  // through the lifeline: nothing is left to remove

// The umask takes nothing away: a mode without write permission passes the usual ones, and fchmodat sees to the rest.
int MakeAt(int parent, const std::string& name, Placeholder::Kind kind) {
  if (kind == Placeholder::Kind::kDirectory) {
    if (::mkdirat(parent, name.c_str(), kDirectoryMode) < 0) return -1;
    return ::fchmodat(parent, name.c_str(), kDirectoryMode, 0);
  }
  const OwnedFd fd(::openat(parent, name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, kFileMode));
  return fd.is_open() ? ::fchmod(fd.get(), kFileMode) : -1;
}

// By its mode; that it is empty shows when it is removed.
bool LooksMade(const struct stat& status) {
  if (S_ISDIR(status.st_mode)) return (status.st_mode & ALLPERMS) == kDirectoryMode;
  return S_ISREG(status.st_mode) && (status.st_mode & ALLPERMS) == kFileMode && status.st_size == 0;
}

bool IsStill(int parent, const std::string& name, int fd) {
  struct stat named, opened;
  return ::fstatat(parent, name.c_str(), &named, AT_SYMLINK_NOFOLLOW) == 0 && ::fstat(fd, &opened) == 0 &&
         named.st_dev == opened.st_dev && named.st_ino == opened.st_ino;
}

// Only what is empty goes: rmdir sees to that for a directory.
void RemoveUnused(int parent, const std::string& name, int fd, Placeholder::Kind kind) {
  if (::flock(fd, LOCK_EX | LOCK_NB) < 0 || !IsStill(parent, name, fd)) return;
  if (kind == Placeholder::Kind::kDirectory) {
    (void)::unlinkat(parent, name.c_str(), AT_REMOVEDIR);
    return;
  }
  struct stat status;
  if (::fstat(fd, &status) == 0 && status.st_size == 0) (void)::unlinkat(parent, name.c_str(), 0);
}

// Out of everybody's way: no terminal, no caller's pipe is held open, and no signal meant for the command ends it.
void BecomeReaper() {
  ::setsid();
  sigset_t all;
  ::sigfillset(&all);
  ::sigprocmask(SIG_SETMASK, &all, nullptr);
  for (int fd = 0; fd <= 2; ++fd) ::close(fd);
  (void)::chdir("/");
}

// Whether the helper has said that nothing is left to do. Blocks until it has, or is gone.
bool AwaitEnd(int lifeline) {
  char said = 0;
  ssize_t n;
  do {
    n = ::read(lifeline, &said, 1);
  } while (n < 0 && errno == EINTR);
  return n == 1 && said == kDone;
}

}  // namespace

bool IsPlaceholder(const std::string& path) {
  struct stat status;
  return ::lstat(path.c_str(), &status) == 0 && LooksMade(status);
}

Placeholders::Placeholders(Placeholders&&) noexcept = default;

Result<Placeholders> Placeholders::Make(const std::vector<Placeholder>& wanted) {
  Placeholders placeholders;
  for (const Placeholder& one : wanted) TRY_VOID(placeholders.Take(one));
  if (!placeholders.held_.empty()) TRY_VOID(placeholders.StartReaper());
  return placeholders;
}

Result<> Placeholders::Take(const Placeholder& wanted) {
  const size_t slash = wanted.path.rfind('/');
  const std::string name = wanted.path.substr(slash + 1);
  TRY(OwnedFd parent, sys::OpenAt(AT_FDCWD, wanted.path.substr(0, slash + 1), O_PATH | O_DIRECTORY, sys::Links::kNone));
  for (int attempt = 0; attempt < kMaxAttempts; ++attempt) {
    if (MakeAt(parent.get(), name, wanted.kind) < 0 && errno != EEXIST) {
      return std::unexpected(ErrnoError("make mount point", wanted.path, errno));
    }
    const int type = wanted.kind == Placeholder::Kind::kDirectory ? O_DIRECTORY : O_NONBLOCK;
    const int opened = sys::TryOpenAt(parent.get(), name, O_RDONLY | type, sys::Links::kNone);
    if (opened == -ENOENT) continue;
    if (opened < 0) return std::unexpected(ErrnoError("open", wanted.path, -opened));
    OwnedFd fd(opened);
    struct stat status;
    if (::fstat(fd.get(), &status) < 0) return std::unexpected(ErrnoError("fstat", wanted.path, errno));
    if (!LooksMade(status)) return {};  // the user's own
    if (::flock(fd.get(), LOCK_SH | LOCK_NB) < 0) {
      ::usleep(1000);  // somebody is about to remove it
      continue;
    }
    if (!IsStill(parent.get(), name, fd.get())) continue;  // removed between the look and the lock
    held_.push_back({std::move(parent), std::move(fd), name, wanted.kind});
    return {};
  }
  struct stat status;
  if (::fstatat(parent.get(), name.c_str(), &status, AT_SYMLINK_NOFOLLOW) == 0) return {};  // a lock that lasts
  return Fail(ErrorKind::kSystem, fmt::format("make mount point {}: it comes and goes", wanted.path));
}

// The reaper's copies of the descriptors share the locks: they end when both it and the helper are gone.
Result<> Placeholders::StartReaper() {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) < 0) return std::unexpected(ErrnoError("pipe", "", errno));
  const OwnedFd read_end(ends[0]);
  lifeline_ = OwnedFd(ends[1]);
  const pid_t reaper = ::fork();
  if (reaper < 0) return std::unexpected(ErrnoError("fork", "", errno));
  if (reaper > 0) return {};
  lifeline_.Reset();
  BecomeReaper();
  if (!AwaitEnd(read_end.get())) Remove();
  ::_exit(0);
}

void Placeholders::Remove() {
  for (const Held& one : held_) RemoveUnused(one.parent.get(), one.name, one.itself.get(), one.kind);
}

Placeholders::~Placeholders() {
  if (held_.empty()) return;
  Remove();
  if (lifeline_.is_open()) (void)!::write(lifeline_.get(), &kDone, 1);  // a reaper that is gone has nothing to be told
}

}  // namespace holdfast::sandbox
