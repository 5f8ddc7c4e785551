#include "sandbox/jail/placeholders.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdint>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "base/paths.h"
#include "sandbox/confine/confinement.h"
#include "sandbox/resolve/protected_names.h"
#include "sys/descriptor_passing.h"
#include "sys/open.h"
#include "sys/pidfd.h"
#include "sys/placeholder.h"
#include "sys/signals.h"
#include "sys/socket_pair.h"
#include "sys/spawn.h"

namespace holdfast::sandbox {
namespace {

constexpr int kMaxAttempts = 100;  // a millisecond apart, against others that make, lock and remove the same ones

mode_t ModeOf(PlaceholderKind kind) {
  return kind == PlaceholderKind::kDirectory ? sys::kPlaceholderDirectoryMode : sys::kPlaceholderFileMode;
}

// With its mode from the first moment: by a second step something else could have taken its place.
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

// That a directory is empty shows when it is removed.
bool LooksMade(const struct stat& status) {
  return sys::HasPlaceholderMode(status.st_mode) && (S_ISDIR(status.st_mode) || status.st_size == 0);
}

bool IsStill(const HeldPlaceholder& held) {
  struct stat named, opened;
  return ::fstatat(held.parent.get(), held.name.c_str(), &named, AT_SYMLINK_NOFOLLOW) == 0 &&
         ::fstat(held.itself.get(), &opened) == 0 && named.st_dev == opened.st_dev && named.st_ino == opened.st_ino;
}

// Only what is empty goes: rmdir sees to that for a directory. One that was given another mode meanwhile is the user's.
void RemoveEmpty(const HeldPlaceholder& held) {
  struct stat status;
  if (!IsStill(held) || ::fstat(held.itself.get(), &status) < 0 || !LooksMade(status)) return;
  const int flags = held.kind == PlaceholderKind::kDirectory ? AT_REMOVEDIR : 0;
  (void)::unlinkat(held.parent.get(), held.name.c_str(), flags);
}

bool MayRemove(int parent, const struct stat& status) {
  struct stat directory;
  if (::fstat(parent, &directory) < 0 || ::faccessat(parent, ".", W_OK | X_OK, AT_EACCESS) < 0) return false;
  const uid_t self = ::geteuid();
  return self == 0 || (directory.st_mode & S_ISVTX) == 0 || directory.st_uid == self || status.st_uid == self;
}

// Record locks for reading, each on a byte of its own. They never conflict, and one for writing cannot be had inside:
// a placeholder cannot be opened for writing there.
enum class Mark : off_t {
  kUsed,     // by a sandbox
  kStuck,    // somebody uses it who cannot remove it
  kWatched,  // somebody waits for the others to end
};
struct flock RecordLock(Mark mark, short type) {
  return {.l_type = type, .l_whence = SEEK_SET, .l_start = static_cast<off_t>(mark), .l_len = 1, .l_pid = 0};
}
bool Set(Mark mark, int fd, short type = F_RDLCK) {
  struct flock lock = RecordLock(mark, type);
  return ::fcntl(fd, F_OFD_SETLK, &lock) == 0;
}
bool Clear(Mark mark, int fd) { return Set(mark, fd, F_UNLCK); }
// By others. When the kernel does not say, there may be one.
bool IsSet(Mark mark, int fd) {
  struct flock lock = RecordLock(mark, F_WRLCK);
  return ::fcntl(fd, F_OFD_GETLK, &lock) < 0 || lock.l_type != F_UNLCK;
}

Result<OwnedFd> OpenParent(const Placeholder& wanted) {
  return sys::OpenAt(AT_FDCWD, std::string(ParentOf(wanted.path)), O_PATH | O_DIRECTORY, sys::Links::kNone);
}

// Without following a link, and only something of that kind; or -errno.
int Open(int parent, const std::string& name, PlaceholderKind kind) {
  const int type = kind == PlaceholderKind::kDirectory ? O_DIRECTORY : O_NONBLOCK;
  return sys::TryOpenAt(parent, name, O_RDONLY | type, sys::Links::kNone);
}

using HeldPlaceholders = std::vector<HeldPlaceholder>;

// How often all of them together may be tried again.
class Patience {
 public:
  bool Wait() {
    if (left_ == 0) return false;
    --left_;
    ::usleep(1000);
    return true;
  }

 private:
  int left_ = kMaxAttempts;
};

// Whether nobody removes it from here on.
bool Use(const HeldPlaceholder& held, Patience& patience) {
  const int fd = held.itself.get();
  const bool is_marked = Set(Mark::kUsed, fd);
  bool is_locked = false;
  do {
    is_locked = ::flock(fd, LOCK_SH | LOCK_NB) == 0;
  } while (!is_locked && patience.Wait());
  return (is_marked || is_locked) && IsStill(held);
}

Result<> Take(const Placeholder& wanted, uint32_t index, HeldPlaceholders& all, Patience& patience) {
  HeldPlaceholder held{.index = index, .name = std::string(NameOf(wanted.path)), .kind = wanted.kind};
  TRY(held.parent, OpenParent(wanted));
  do {
    held.is_made = MakeAt(held.parent.get(), held.name, held.kind) == 0;
    if (!held.is_made && errno != EEXIST) return FailErrno("make mount point", wanted.path);
    const int opened = Open(held.parent.get(), held.name, held.kind);
    if (opened == -ENOENT) continue;
    if (opened < 0) return FailErrno("open", wanted.path, -opened);
    held.itself = OwnedFd(opened);
    struct stat status;
    if (::fstat(opened, &status) < 0) return FailErrno("fstat", wanted.path);
    // A directory with an access list, or one that hands its group down, has changed it.
    if (held.is_made && !LooksMade(status) && ::fchmod(opened, ModeOf(held.kind)) == 0) (void)::fstat(opened, &status);
    if (!LooksMade(status)) return {};                                           // the user's own
    if (!MayRemove(held.parent.get(), status)) (void)Set(Mark::kStuck, opened);  // at worst it is left behind
    if (!Use(held, patience)) continue;  // removed between the look and the mark
    all.push_back(std::move(held));
    return {};
  } while (patience.Wait());
  return Fail(ErrorKind::kSystem, fmt::format("make mount point {}: it comes and goes", wanted.path));
}

// Of two who do this at once, each takes its own mark away before it looks for the other's: one of them finds none.
enum class Removal { kDone, kUsedByOthers, kLockedByOthers };
Removal Remove(const HeldPlaceholder& held, int lock) {
  const int fd = held.itself.get();
  (void)Clear(Mark::kUsed, fd);
  const bool is_locked = ::flock(fd, lock) == 0;
  if (IsSet(Mark::kUsed, fd)) {
    ::flock(fd, LOCK_UN);  // the descriptor may stay open for a moment more, in the reaper
    return Removal::kUsedByOthers;
  }
  if (!is_locked) return Removal::kLockedByOthers;
  RemoveEmpty(held);
  return Removal::kDone;
}

// Keeps those that are left to wait for. Others who use it remove it, unless they cannot; somebody who has only locked
// it does not, and of all who were kept from it by that one waits.
void RemoveUnused(HeldPlaceholders& all) {
  std::erase_if(all, [](const HeldPlaceholder& held) {
    const Removal removal = Remove(held, LOCK_EX | LOCK_NB);
    if (removal == Removal::kDone) return true;
    const int fd = held.itself.get();
    if (held.is_made && IsSet(Mark::kStuck, fd)) return false;
    return removal == Removal::kUsedByOthers || IsSet(Mark::kWatched, fd);
  });
}

void AwaitOthers(HeldPlaceholders& all) {
  for (const HeldPlaceholder& held : all) (void)Set(Mark::kWatched, held.itself.get());
  for (HeldPlaceholder& held : all) {
    (void)Remove(held, LOCK_EX);
    held.itself.Reset();
  }
}

// A helper that was killed may be about to let go of its own.
void RemoveSoon(HeldPlaceholders& all) {
  constexpr int attempts = 20;
  for (int attempt = 0; attempt < attempts; ++attempt) {
    std::erase_if(all, [](const HeldPlaceholder& held) { return Remove(held, LOCK_EX | LOCK_NB) == Removal::kDone; });
    if (all.empty()) return;
    ::usleep(10'000);
  }
}

// What the helper says to the process that outlives it, one packet each.
struct Note {
  enum class Kind : uint32_t {
    kHeld,     // with the descriptor that has the lock
    kProcess,  // with a pidfd: to be killed before anything is removed
    kRemoved,  // nothing is left to do
  };
  Kind kind;
  uint32_t index = 0;  // of a placeholder
  uint32_t is_made = 0;

  std::string_view bytes() const { return {reinterpret_cast<const char*>(this), sizeof *this}; }
};

// Out of everybody's way: nothing of the caller's is held open, and no signal meant for the command ends it. It has a
// session of its own too, unless the helper was faster in giving it a group.
void Detach(int lifeline) {
  ::setsid();
  sys::BlockSignals();
  (void)PassOnly(std::array{lifeline});  // what is left open then does no harm here
  ::close_range(STDIN_FILENO, STDERR_FILENO, 0);
  (void)::chdir("/");
}

// The process that removes what the helper does not come to remove.
class Reaper {
 public:
  explicit Reaper(const std::vector<Placeholder>& wanted) : wanted_(wanted), locked_(wanted.size()) {}

  [[noreturn]] void Run(int lifeline) {
    Detach(lifeline);
    // Beside a command that may be alive nothing is removed: the next sandbox that needs them does it.
    if (Listen(lifeline) && (!process_.is_open() || sys::KillAndAwaitEnd(process_.get()))) {
      HeldPlaceholders all;
      for (uint32_t index = 0; index < wanted_.size(); ++index) Find(index, all);
      RemoveSoon(all);
      RemoveUnused(all);
      AwaitOthers(all);
    }
    ::_exit(0);
  }

 private:
  struct Locked {
    OwnedFd fd;
    bool is_made = false;
  };

  // To the end of the line. Whether there is something to do then.
  bool Listen(int lifeline) {
    for (;;) {
      Note note{};
      auto received = sys::ReceiveWithDescriptor(lifeline, {reinterpret_cast<char*>(&note), sizeof note});
      if (!received || received->size != sizeof note) return true;
      if (note.kind == Note::Kind::kRemoved) return false;
      if (note.kind == Note::Kind::kProcess) process_ = std::move(received->fd);
      if (note.kind == Note::Kind::kHeld) locked_.at(note.index) = {std::move(received->fd), note.is_made != 0};
    }
  }

  // By the lock that the helper had; or by name, when there was no command yet that it could matter to.
  void Find(uint32_t index, HeldPlaceholders& all) {
    const Placeholder& wanted = wanted_[index];
    Locked& locked = locked_[index];
    auto parent = OpenParent(wanted);
    if (!parent) return;
    HeldPlaceholder held{.index = index, .name = std::string(NameOf(wanted.path)), .kind = wanted.kind};
    held.parent = *std::move(parent);
    held.itself = std::move(locked.fd);
    held.is_made = locked.is_made;
    if (!held.itself.is_open()) {
      held.itself = OwnedFd(std::max(Open(held.parent.get(), held.name, held.kind), -1));
      struct stat status;
      if (!held.itself.is_open() || ::fstat(held.itself.get(), &status) < 0 || !LooksMade(status)) return;
    }
    all.push_back(std::move(held));
  }

  const std::vector<Placeholder>& wanted_;
  std::vector<Locked> locked_;
  OwnedFd process_;
};

}  // namespace

Placeholders::Placeholders(Placeholders&&) noexcept = default;

Result<Placeholders> Placeholders::Prepare(std::vector<Placeholder> wanted) {
  Placeholders placeholders(std::move(wanted));
  if (placeholders.wanted_.empty()) return placeholders;
  TRY(sys::SocketPair pair, sys::MakeSocketPair(sys::SocketKind::kPacket));
  placeholders.lifeline_ = std::move(pair.ours);
  placeholders.end_for_reaper_ = std::move(pair.theirs);
  if (::fcntl(placeholders.lifeline_.get(), F_SETFD, 0) < 0) return FailErrno("fcntl");
  return placeholders;
}

Result<> Placeholders::Make() {
  if (wanted_.empty()) return {};
  TRY_VOID(StartReaper());
  Patience patience;
  for (uint32_t index = 0; index < wanted_.size(); ++index) {
    TRY_VOID(Take(wanted_[index], index, held_, patience));
    // At once: who makes the mounts goes on when this process is killed, and must be found to use it.
    if (!held_.empty() && held_.back().index == index) TRY_VOID(Pass(held_.back()));
  }
  return {};
}

// Before any is made. Its group is its own from here on: who kills the helper's spares it.
Result<> Placeholders::StartReaper() {
  auto in_child = [this] {
    Reaper(wanted_).Run(end_for_reaper_.get());
    return 0;
  };
  TRY(const pid_t reaper, sys::Spawn(sys::Sharing::kNothing, in_child));
  ::setpgid(reaper, reaper);
  end_for_reaper_.Reset();
  return {};
}

Result<> Placeholders::Pass(const HeldPlaceholder& held) const {
  const Note note{.kind = Note::Kind::kHeld, .index = held.index, .is_made = held.is_made ? 1u : 0u};
  TRY_VOID(sys::SendWithDescriptor(lifeline_.get(), note.bytes(), held.itself.get()));
  return {};
}

Result<> Placeholders::KeepUntilEndOf(int pidfd) {
  if (!lifeline_.is_open()) return {};
  TRY_VOID(sys::SendWithDescriptor(lifeline_.get(), Note{.kind = Note::Kind::kProcess}.bytes(), pidfd));
  return {};
}

Placeholders::~Placeholders() {
  if (!lifeline_.is_open()) return;
  RemoveUnused(held_);
  // A reaper that is gone has nothing to be told.
  if (held_.empty()) (void)sys::SendAll(lifeline_.get(), Note{.kind = Note::Kind::kRemoved}.bytes());
  ::shutdown(lifeline_.get(), SHUT_WR);  // others have copies: to close it would not be enough
}

}  // namespace holdfast::sandbox
