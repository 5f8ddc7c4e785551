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
#include "sys/file_identity.h"
#include "sys/inherit.h"
#include "sys/open.h"
#include "sys/pidfd.h"
#include "sys/placeholder.h"
#include "sys/signals.h"
#include "sys/socket_pair.h"
#include "sys/spawn.h"

namespace holdfast::sandbox {
namespace {

// The number of attempts, a millisecond apart, while other processes make, lock and remove the same placeholders.
constexpr int kMaxAttempts = 100;

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

bool IsStill(const HeldPlaceholder& held) {
  struct stat named, opened;
  return ::fstatat(held.parent.get(), held.name.c_str(), &named, AT_SYMLINK_NOFOLLOW) == 0 &&
         ::fstat(held.itself.get(), &opened) == 0 && sys::IsSameFile(named, opened);
}

// Removes a placeholder that is still empty and in its place. A file that has got another mode is the user's.
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

using HeldPlaceholders = std::vector<HeldPlaceholder>;

// Retries limits how often the placeholders of one sandbox, all together, are tried again.
class Retries {
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

// Marks and locks a placeholder. Returns true when no other sandbox removes it from here on.
bool MarkUsed(const HeldPlaceholder& held, Retries& retries) {
  const int fd = held.itself.get();
  const bool is_marked = Set(Mark::kUsed, fd);
  bool is_locked = false;
  do {
    is_locked = ::flock(fd, LOCK_SH | LOCK_NB) == 0;
  } while (!is_locked && retries.Wait());
  return (is_marked || is_locked) && IsStill(held);
}

Result<> Acquire(const Placeholder& wanted, uint32_t index, HeldPlaceholders& all, Retries& retries) {
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
    // A parent directory with a default ACL or with set-group-ID changes the mode of what is made in it.
    if (held.is_made && !LooksMade(status) && ::fchmod(opened, ModeOf(held.kind)) == 0) (void)::fstat(opened, &status);
    if (!LooksMade(status)) return {};                                           // the user's own
    if (!MayRemove(held.parent.get(), status)) (void)Set(Mark::kStuck, opened);  // at worst it is left behind
    if (!MarkUsed(held, retries)) continue;  // another sandbox has removed it before it was marked
    all.push_back(std::move(held));
    return {};
  } while (retries.Wait());
  return Fail(ErrorKind::kSystem,
              fmt::format("make mount point {}: other processes keep making and removing it", wanted.path));
}

// Removes a placeholder unless another sandbox uses it. A process clears its own mark before it looks for marks of
// other processes, so when two processes do this at once, at least one of them finds none.
enum class Removal { kDone, kUsedByOthers, kLockedByOthers };
Removal Remove(const HeldPlaceholder& held, int lock) {
  const int fd = held.itself.get();
  (void)Clear(Mark::kUsed, fd);
  const bool is_locked = ::flock(fd, lock) == 0;
  if (IsSet(Mark::kUsed, fd)) {
    ::flock(fd, LOCK_UN);  // closing is not enough: the reaper may have the descriptor open for a moment more
    return Removal::kUsedByOthers;
  }
  if (!is_locked) return Removal::kLockedByOthers;
  RemoveEmpty(held);
  return Removal::kDone;
}

// Removes the placeholders that no other sandbox uses, and keeps in `all` those that this process has to wait for.
// Other users of a placeholder remove it themselves, unless one of them has no right to; then the sandbox that made it
// waits. A process that has only locked a placeholder does not remove it; of all sandboxes that this lock stops, one
// waits.
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

// Tries for a short time, because other helpers that were killed together with this one may be about to end.
void RemoveSoon(HeldPlaceholders& all) {
  constexpr int attempts = 20;
  for (int attempt = 0; attempt < attempts; ++attempt) {
    std::erase_if(all, [](const HeldPlaceholder& held) { return Remove(held, LOCK_EX | LOCK_NB) == Removal::kDone; });
    if (all.empty()) return;
    ::usleep(10'000);
  }
}

// A message of the helper to the reaper, in one packet.
struct ReaperMessage {
  enum class Kind : uint32_t {
    kHeld,     // carries the descriptor that holds the locks
    kProcess,  // carries the pidfd of a process that must be killed before anything is removed
    kRemoved,  // nothing is left to do
    kEnded,    // the command has ended, and the reaper removes the placeholders at once
  };
  Kind kind;
  uint32_t index = 0;  // in the list of wanted placeholders
  uint32_t is_made = 0;

  std::string_view bytes() const { return {reinterpret_cast<const char*>(this), sizeof *this}; }
};

// Separates the reaper from the helper: it holds nothing of the caller's open, and no signal that is meant for the
// command ends it. It also gets a session of its own, unless the helper has made it the leader of a group before.
void Detach(int socket) {
  ::setsid();
  sys::BlockSignals();
  (void)PassOnly(std::array{socket});  // after a failure some descriptors stay open, which does no harm here
  ::close_range(STDIN_FILENO, STDERR_FILENO, 0);
  (void)::chdir("/");
}

// Reaper is the process that removes the placeholders when the helper cannot.
class Reaper {
 public:
  explicit Reaper(const std::vector<Placeholder>& wanted) : wanted_(wanted), locked_(wanted.size()) {}

  [[noreturn]] void Run(int socket) {
    Detach(socket);
    // Nothing is removed while the command may be alive. The next sandbox that needs the placeholders removes them.
    if (ReceiveUntilEnd(socket) && (!process_.is_open() || sys::KillAndAwaitEnd(process_.get()))) {
      HeldPlaceholders all;
      for (uint32_t index = 0; index < wanted_.size(); ++index) Find(index, all);
      if (!has_ended_) RemoveSoon(all);
      RemoveUnused(all);
      ::close(socket);  // the helper waits for this
      AwaitOthers(all);
    }
    ::_exit(0);
  }

 private:
  struct Locked {
    OwnedFd fd;
    bool is_made = false;
  };

  // Receives messages until the end of the socket. Returns whether placeholders have to be removed then.
  bool ReceiveUntilEnd(int socket) {
    for (;;) {
      ReaperMessage message{};
      auto received = sys::ReceiveWithDescriptor(socket, {reinterpret_cast<char*>(&message), sizeof message});
      if (!received || received->size != sizeof message) return true;
      if (message.kind == ReaperMessage::Kind::kRemoved) return false;
      if (message.kind == ReaperMessage::Kind::kEnded) {
        has_ended_ = true;
        return true;
      }
      if (message.kind == ReaperMessage::Kind::kProcess) process_ = std::move(received->fd);
      if (message.kind == ReaperMessage::Kind::kHeld)
        locked_.at(message.index) = {std::move(received->fd), message.is_made != 0};
    }
  }

  // Adds a placeholder to `all`, by the descriptor that the helper has sent. A placeholder without one is found by its
  // name, which is safe because no command has been started yet.
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
  bool has_ended_ = false;
};

}  // namespace

Placeholders::Placeholders(Placeholders&&) noexcept = default;

Result<Placeholders> Placeholders::Prepare(std::vector<Placeholder> wanted) {
  Placeholders placeholders(std::move(wanted));
  if (placeholders.wanted_.empty()) return placeholders;
  TRY(sys::SocketPair pair, sys::MakeSocketPair(sys::SocketKind::kPacket));
  placeholders.reaper_socket_ = std::move(pair.ours);
  placeholders.reaper_end_ = std::move(pair.theirs);
  TRY_VOID(sys::LetInherit(placeholders.reaper_socket_.get()));
  return placeholders;
}

Result<> Placeholders::Make() {
  if (wanted_.empty()) return {};
  if (!left_to_reaper_) TRY_VOID(StartReaper());
  Retries retries;
  for (uint32_t index = 0; index < wanted_.size(); ++index) {
    TRY_VOID(Acquire(wanted_[index], index, held_, retries));
    // The reaper gets each placeholder at once. If this process is killed, bubblewrap goes on for a while, and the
    // placeholder must still be marked as used.
    if (!held_.empty() && held_.back().index == index) TRY_VOID(TellReaper(held_.back()));
  }
  return {};
}

Result<> Placeholders::LeaveToReaper() {
  if (wanted_.empty()) return {};
  left_to_reaper_ = true;
  return StartReaper();
}

Result<> Placeholders::MakeAsFirstProcess() {
  if (wanted_.empty()) return {};
  TRY(const OwnedFd self, sys::OpenPidfd(::getpid()));
  TRY_VOID(KeepUntilEndOf(self.get()));
  return Make();
}

// The reaper is started before any placeholder is made. It has a process group of its own, so that it survives when the
// process group of the helper is killed.
Result<> Placeholders::StartReaper() {
  auto in_child = [this] {
    Reaper(wanted_).Run(reaper_end_.get());
    return 0;
  };
  TRY(const pid_t reaper, sys::Spawn(sys::Sharing::kNothing, in_child));
  ::setpgid(reaper, reaper);
  reaper_end_.Reset();
  return {};
}

Result<> Placeholders::TellReaper(const HeldPlaceholder& held) const {
  const ReaperMessage message{
      .kind = ReaperMessage::Kind::kHeld, .index = held.index, .is_made = held.is_made ? 1u : 0u};
  TRY_VOID(sys::SendWithDescriptor(reaper_socket_.get(), message.bytes(), held.itself.get()));
  return {};
}

Result<> Placeholders::KeepUntilEndOf(int pidfd) {
  if (!reaper_socket_.is_open()) return {};
  TRY_VOID(sys::SendWithDescriptor(reaper_socket_.get(), ReaperMessage{.kind = ReaperMessage::Kind::kProcess}.bytes(),
                                   pidfd));
  return {};
}

Placeholders::~Placeholders() {
  if (!reaper_socket_.is_open()) return;
  if (left_to_reaper_) {
    (void)sys::SendAll(reaper_socket_.get(), ReaperMessage{.kind = ReaperMessage::Kind::kEnded}.bytes());
    char nothing;
    (void)sys::Read(reaper_socket_.get(), &nothing, 1);  // until the reaper closes its end
    return;
  }
  RemoveUnused(held_);
  // The message fails only when the reaper is gone, which does no harm.
  if (held_.empty())
    (void)sys::SendAll(reaper_socket_.get(), ReaperMessage{.kind = ReaperMessage::Kind::kRemoved}.bytes());
  ::shutdown(reaper_socket_.get(), SHUT_WR);  // closing is not enough: other processes have copies
}

}  // namespace holdfast::sandbox
