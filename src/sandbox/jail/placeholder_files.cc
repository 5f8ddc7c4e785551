#include "sandbox/jail/placeholder_files.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include <fmt/format.h>

#include "base/paths.h"
#include "sys/file_identity.h"
#include "sys/open.h"
#include "sys/placeholder.h"

namespace holdfast::sandbox {
namespace {

// The attempts to make one placeholder are counted apart from the waits: a process that removes it holds the lock for
// as long as it gets no processor, and may so use up all waits. When it has removed the placeholder, the next attempt
// succeeds.
constexpr int kAttempts = 100;

mode_t ModeOf(PlaceholderKind kind) {
  return kind == PlaceholderKind::kDirectory ? sys::kPlaceholderDirectoryMode : sys::kPlaceholderFileMode;
}

// The placeholder gets its mode when it is made. A chmod afterwards could change another file that has taken its place.
int MakeAt(int parent, const std::string& name, PlaceholderKind kind) {
  const mode_t before = ::umask(0);
  int made;
  if (kind == PlaceholderKind::kDirectory) {
    made = ::mkdirat(parent, name.c_str(), ModeOf(kind));
  } else {
    const int flags = O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW;
    made = OwnedFd(::openat(parent, name.c_str(), flags, ModeOf(kind))).is_open() ? 0 : -1;
  }
  ::umask(before);
  return made;
}

// Returns whether a file looks like a placeholder. A directory need not be checked for being empty: rmdir does that.
bool LooksMade(const struct stat& status) {
  return sys::HasPlaceholderMode(status.st_mode) && (S_ISDIR(status.st_mode) || status.st_size == 0);
}

bool IsStill(const UsedPlaceholder& used) {
  struct stat named, opened;
  return ::fstatat(used.parent.get(), used.name.c_str(), &named, AT_SYMLINK_NOFOLLOW) == 0 &&
         ::fstat(used.itself.get(), &opened) == 0 && sys::IsSameFile(named, opened);
}

// Removes a placeholder that is still empty and in its place. A file that has got another mode is the user's.
void RemoveEmpty(const UsedPlaceholder& used) {
  struct stat status;
  if (!IsStill(used) || ::fstat(used.itself.get(), &status) < 0 || !LooksMade(status)) return;
  const int flags = used.kind == PlaceholderKind::kDirectory ? AT_REMOVEDIR : 0;
  (void)::unlinkat(used.parent.get(), used.name.c_str(), flags);
}

bool MayRemove(int parent, const struct stat& status) {
  struct stat directory;
  if (::fstat(parent, &directory) < 0 || ::faccessat(parent, ".", W_OK | X_OK, AT_EACCESS) < 0) return false;
  const uid_t self = ::geteuid();
  return self == 0 || (directory.st_mode & S_ISVTX) == 0 || directory.st_uid == self || status.st_uid == self;
}

// Marks are record locks for reading, each on a byte of its own. Locks for reading never conflict with each other, and
// no process inside can get one for writing, because a placeholder cannot be opened for writing there.
enum class Mark : off_t {
  kUsed,     // a sandbox uses the placeholder
  kStuck,    // one of its users has no right to remove it
  kWatched,  // a process waits until the other users have ended
};
struct flock RecordLock(Mark mark, short type) {
  return {.l_type = type, .l_whence = SEEK_SET, .l_start = static_cast<off_t>(mark), .l_len = 1, .l_pid = 0};
}
bool Set(Mark mark, int fd, short type = F_RDLCK) {
  struct flock lock = RecordLock(mark, type);
  return ::fcntl(fd, F_OFD_SETLK, &lock) == 0;
}
bool Clear(Mark mark, int fd) { return Set(mark, fd, F_UNLCK); }
// Returns whether another process has set the mark. When the kernel does not answer, it may be set.
bool IsSet(Mark mark, int fd) {
  struct flock lock = RecordLock(mark, F_WRLCK);
  return ::fcntl(fd, F_OFD_GETLK, &lock) < 0 || lock.l_type != F_UNLCK;
}

Result<OwnedFd> OpenParent(const Placeholder& wanted) {
  return sys::OpenAt(AT_FDCWD, std::string(ParentOf(wanted.path)), O_PATH | O_DIRECTORY, sys::Links::kNone);
}

// Opens a file of that kind without following a link. Returns the descriptor or -errno.
int Open(int parent, const std::string& name, PlaceholderKind kind) {
  const int type = kind == PlaceholderKind::kDirectory ? O_DIRECTORY : O_NONBLOCK;
  return sys::TryOpenAt(parent, name, O_RDONLY | type, sys::Links::kNone);
}

// Another program has made a file there that is not of the kind which the plan expects.
std::unexpected<Error> IsOfOtherKind(const std::string& path) {
  return Fail(ErrorKind::kNotFound, fmt::format("make mount point {}: it has been made in the meantime", path));
}

// Marks and locks a placeholder. Returns true when no other sandbox removes it from here on.
bool MarkUsed(const UsedPlaceholder& used, PlaceholderRetries& retries) {
  const int fd = used.itself.get();
  const bool is_marked = Set(Mark::kUsed, fd);
  bool is_locked = false;
  do {
    is_locked = ::flock(fd, LOCK_SH | LOCK_NB) == 0;
  } while (!is_locked && retries.Wait());
  return (is_marked || is_locked) && IsStill(used);
}

// Removes a placeholder unless another sandbox uses it. A process clears its own mark before it looks for marks of
// other processes, so when two processes do this at once, at least one of them finds none.
enum class Removal { kDone, kUsedByOthers, kLockedByOthers };
Removal Remove(const UsedPlaceholder& used, int lock) {
  const int fd = used.itself.get();
  (void)Clear(Mark::kUsed, fd);
  const bool is_locked = ::flock(fd, lock) == 0;
  if (IsSet(Mark::kUsed, fd)) {
    ::flock(fd, LOCK_UN);  // closing is not enough: the reaper may have the descriptor open for a moment more
    return Removal::kUsedByOthers;
  }
  if (!is_locked) return Removal::kLockedByOthers;
  RemoveEmpty(used);
  return Removal::kDone;
}

// Removes a placeholder, if that is possible at once. Returns false when this process has to wait for it.
bool IsDoneWith(const UsedPlaceholder& used) {
  const Removal removal = Remove(used, LOCK_EX | LOCK_NB);
  if (removal == Removal::kDone) return true;
  const int fd = used.itself.get();
  if (used.is_made && IsSet(Mark::kStuck, fd)) return false;
  return removal == Removal::kUsedByOthers || IsSet(Mark::kWatched, fd);
}

}  // namespace

bool PlaceholderRetries::Wait() {
  if (left_ == 0) return false;
  --left_;
  ::usleep(1000);
  return true;
}

Result<> AcquirePlaceholder(const Placeholder& wanted, uint32_t index, UsedPlaceholders& all,
                            PlaceholderRetries& retries) {
  UsedPlaceholder used{.index = index, .name = std::string(NameOf(wanted.path)), .kind = wanted.kind};
  TRY(used.parent, OpenParent(wanted));
  for (int attempt = 0; attempt < kAttempts; ++attempt) {
    if (attempt > 0) (void)retries.Wait();
    used.is_made = MakeAt(used.parent.get(), used.name, used.kind) == 0;
    if (!used.is_made && errno != EEXIST) return FailErrno("make mount point", wanted.path);
    const int opened = Open(used.parent.get(), used.name, used.kind);
    if (opened == -ENOENT) continue;
    if (opened == -ENOTDIR || opened == -ELOOP) return IsOfOtherKind(wanted.path);
    if (opened < 0) return FailErrno("open", wanted.path, -opened);
    used.itself = OwnedFd(opened);
    struct stat status;
    if (::fstat(opened, &status) < 0) return FailErrno("fstat", wanted.path);
    // A parent directory with a default ACL or with set-group-ID changes the mode of what is made in it.
    if (used.is_made && !LooksMade(status) && ::fchmod(opened, ModeOf(used.kind)) == 0) (void)::fstat(opened, &status);
    if (!LooksMade(status)) return {};                                           // the user's own
    if (!MayRemove(used.parent.get(), status)) (void)Set(Mark::kStuck, opened);  // at worst it is left behind
    if (!MarkUsed(used, retries)) continue;  // another sandbox has removed it before it was marked
    all.push_back(std::move(used));
    return {};
  }
  return Fail(ErrorKind::kSystem,
              fmt::format("make mount point {}: other processes keep making and removing it", wanted.path));
}

// A placeholder that is found by its name is safe to remove only because it is empty and has the mode of one.
std::optional<UsedPlaceholder> FindPlaceholder(const Placeholder& wanted, uint32_t index, OwnedFd itself,
                                               bool is_made) {
  auto parent = OpenParent(wanted);
  UsedPlaceholder used{.index = index, .name = std::string(NameOf(wanted.path)), .kind = wanted.kind};
  used.is_made = is_made;
  if (parent) used.parent = *std::move(parent);
  used.itself = std::move(itself);
  // The directory above may have another name by now, or a link may have its name.
  if (used.itself.is_open() && used.kind == PlaceholderKind::kDirectory && !IsStill(used)) {
    used.parent = OwnedFd(::openat(used.itself.get(), "..", O_PATH | O_DIRECTORY | O_CLOEXEC));
  }
  if (!used.parent.is_open()) return std::nullopt;
  if (used.itself.is_open()) return used;
  used.itself = OwnedFd(std::max(Open(used.parent.get(), used.name, used.kind), -1));
  struct stat status;
  if (!used.itself.is_open() || ::fstat(used.itself.get(), &status) < 0 || !LooksMade(status)) return std::nullopt;
  return used;
}

UsedPlaceholders RemoveUnused(UsedPlaceholders& all) {
  UsedPlaceholders done, left;
  for (UsedPlaceholder& used : all) {
    const bool is_done = IsDoneWith(used);
    (is_done ? done : left).push_back(std::move(used));
  }
  all = std::move(left);
  return done;
}

void AwaitOthers(UsedPlaceholders& all) {
  for (const UsedPlaceholder& used : all) (void)Set(Mark::kWatched, used.itself.get());
  for (UsedPlaceholder& used : all) {
    (void)Remove(used, LOCK_EX);
    used.itself.Reset();
  }
}

void RemoveSoon(UsedPlaceholders& all) {
  constexpr int attempts = 20;
  for (int attempt = 0; attempt < attempts; ++attempt) {
    std::erase_if(all, [](const UsedPlaceholder& used) { return Remove(used, LOCK_EX | LOCK_NB) == Removal::kDone; });
    if (all.empty()) return;
    ::usleep(10'000);
  }
}

}  // namespace holdfast::sandbox
