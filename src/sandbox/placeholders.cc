#include "sandbox/placeholders.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "sandbox/confinement.h"
#include "sys/descriptor_passing.h"
#include "sys/io.h"
#include "sys/open.h"

namespace holdfast::sandbox {
namespace {

constexpr mode_t kDirectoryMode = S_ISVTX | 0555;
constexpr mode_t kFileMode = S_ISVTX | 0444;
constexpr int kMaxAttempts = 100;  // a millisecond apart, against others that make and remove the same one

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

struct Held {
  OwnedFd parent;  // O_PATH
  OwnedFd itself;  // with the lock
  std::string name;
  Placeholder::Kind kind;
  bool is_made;  // here
};

bool IsStill(const Held& held) {
  struct stat named, opened;
  return ::fstatat(held.parent.get(), held.name.c_str(), &named, AT_SYMLINK_NOFOLLOW) == 0 &&
         ::fstat(held.itself.get(), &opened) == 0 && named.st_dev == opened.st_dev && named.st_ino == opened.st_ino;
}

// Only what is empty goes: rmdir sees to that for a directory.
void RemoveEmpty(const Held& held) {
  if (!IsStill(held)) return;
  struct stat status;
  if (held.kind == Placeholder::Kind::kDirectory) {
    (void)::unlinkat(held.parent.get(), held.name.c_str(), AT_REMOVEDIR);
  } else if (::fstat(held.itself.get(), &status) == 0 && status.st_size == 0) {
    (void)::unlinkat(held.parent.get(), held.name.c_str(), 0);
  }
}

bool MayRemove(int parent, const struct stat& status) {
  struct stat directory;
  if (::fstat(parent, &directory) < 0 || ::faccessat(parent, ".", W_OK | X_OK, AT_EACCESS) < 0) return false;
  const uid_t self = ::geteuid();
  return self == 0 || (directory.st_mode & S_ISVTX) == 0 || directory.st_uid == self || status.st_uid == self;
}

// A second lock, of another kind, says: used by somebody who cannot remove it.
struct flock WholeFile(short type) {
  return {.l_type = type, .l_whence = SEEK_SET, .l_start = 0, .l_len = 0, .l_pid = 0};
}
void SayThatOthersMustRemove(int fd) {
  struct flock lock = WholeFile(F_RDLCK);
  (void)::fcntl(fd, F_OFD_SETLK, &lock);  // at worst it is left behind
}
bool OthersCannotRemove(int fd) {
  struct flock lock = WholeFile(F_WRLCK);
  return ::fcntl(fd, F_OFD_GETLK, &lock) == 0 && lock.l_type != F_UNLCK;
}

// What the process does that holds them.
class Holder {
 public:
  Result<> Take(const Placeholder& wanted) {
    const size_t slash = wanted.path.rfind('/');
    Held held = {
        .parent = {}, .itself = {}, .name = wanted.path.substr(slash + 1), .kind = wanted.kind, .is_made = false};
    TRY(held.parent, sys::OpenAt(AT_FDCWD, wanted.path.substr(0, slash + 1), O_PATH | O_DIRECTORY, sys::Links::kNone));
    for (int attempt = 0; attempt < kMaxAttempts; ++attempt) {
      held.is_made = MakeAt(held.parent.get(), held.name, held.kind) == 0;
      if (!held.is_made && errno != EEXIST) return std::unexpected(ErrnoError("make mount point", wanted.path, errno));
      const int type = wanted.kind == Placeholder::Kind::kDirectory ? O_DIRECTORY : O_NONBLOCK;
      const int opened = sys::TryOpenAt(held.parent.get(), held.name, O_RDONLY | type, sys::Links::kNone);
      if (opened == -ENOENT) continue;
      if (opened < 0) return std::unexpected(ErrnoError("open", wanted.path, -opened));
      held.itself = OwnedFd(opened);
      struct stat status;
      if (::fstat(opened, &status) < 0) return std::unexpected(ErrnoError("fstat", wanted.path, errno));
      if (!LooksMade(status)) return {};  // the user's own
      if (!MayRemove(held.parent.get(), status)) SayThatOthersMustRemove(opened);
      if (::flock(opened, LOCK_SH | LOCK_NB) < 0) {
        ::usleep(1000);  // somebody is about to remove it
        continue;
      }
      if (!IsStill(held)) continue;  // removed between the look and the lock
      held_.push_back(std::move(held));
      return {};
    }
    struct stat status;
    if (::fstatat(held.parent.get(), held.name.c_str(), &status, AT_SYMLINK_NOFOLLOW) == 0) return {};  // it lasts
    return Fail(ErrorKind::kSystem, fmt::format("make mount point {}: it comes and goes", wanted.path));
  }

  // Keeps those that are left to wait for.
  void RemoveUnused() {
    std::erase_if(held_, [](const Held& held) {
      const bool is_unused = ::flock(held.itself.get(), LOCK_EX | LOCK_NB) == 0;
      if (is_unused) RemoveEmpty(held);
      return is_unused || !held.is_made || !OthersCannotRemove(held.itself.get());
    });
  }

  void AwaitOthers() {
    for (Held& held : held_) {
      if (::flock(held.itself.get(), LOCK_EX) == 0) RemoveEmpty(held);
      held.itself.Reset();
    }
  }

 private:
  std::vector<Held> held_;
};

// Out of everybody's way: no terminal, nothing of the caller's is held open, and no signal meant for the command ends
// it.
void Detach(int lifeline) {
  ::setsid();
  sigset_t all;
  ::sigfillset(&all);
  ::sigprocmask(SIG_SETMASK, &all, nullptr);
  (void)PassOnly(std::array{lifeline});  // what is left open then does no harm here
  ::close_range(STDIN_FILENO, STDERR_FILENO, 0);
  (void)::chdir("/");
}

// One packet: nothing but a zero, or why not.
std::string Answer(const Result<>& taken) {
  if (taken) return std::string(1, '\0');
  return fmt::format("f{}{}", static_cast<char>(taken.error().kind), taken.error().message);
}

Result<> Understand(std::string_view answer) {
  if (answer.size() == 1) return {};
  if (answer.size() < 2) return Fail(ErrorKind::kSystem, "make mount points: the process for it has been killed");
  return Fail(static_cast<ErrorKind>(answer[1]), std::string(answer.substr(2)));
}

// The process to wait for, if there has been one by the end of the line.
OwnedFd AwaitEndOfLine(int lifeline) {
  OwnedFd process;
  for (;;) {
    char word;
    auto received = sys::ReceiveWithDescriptor(lifeline, {&word, 1});
    if (!received || received->size == 0) return process;
    process = std::move(received->fd);
  }
}

// Of pid 1 of a namespace this sees the end when the whole namespace has ended.
void End(int pidfd) {
  (void)::syscall(SYS_pidfd_send_signal, pidfd, SIGKILL, nullptr, 0);
  pollfd end = {pidfd, POLLIN, 0};
  while (::poll(&end, 1, -1) < 0 && errno == EINTR) {
  }
}

[[noreturn]] void Hold(OwnedFd lifeline, const std::vector<Placeholder>& wanted) {
  Detach(lifeline.get());
  Holder holder;
  Result<> taken;
  for (const Placeholder& one : wanted) {
    if (taken) taken = holder.Take(one);
  }
  (void)sys::SendAll(lifeline.get(), Answer(taken));  // who is gone shows in the next line
  if (const OwnedFd process = AwaitEndOfLine(lifeline.get()); process.is_open()) End(process.get());
  holder.RemoveUnused();
  lifeline.Reset();
  holder.AwaitOthers();
  ::_exit(0);
}

}  // namespace

bool IsPlaceholder(const std::string& path) {
  struct stat status;
  return ::lstat(path.c_str(), &status) == 0 && LooksMade(status);
}

Placeholders::Placeholders(OwnedFd lifeline) : lifeline_(std::move(lifeline)) {}
Placeholders::Placeholders(Placeholders&&) noexcept = default;

Result<Placeholders> Placeholders::Make(const std::vector<Placeholder>& wanted) {
  if (wanted.empty()) return Placeholders(OwnedFd());
  int ends[2];
  if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) < 0) {
    return std::unexpected(ErrnoError("socketpair", "", errno));
  }
  Placeholders placeholders{OwnedFd(ends[0])};
  OwnedFd theirs(ends[1]);
  if (::fcntl(ends[0], F_SETFD, 0) < 0) return std::unexpected(ErrnoError("fcntl", "", errno));
  const pid_t holder = ::fork();
  if (holder < 0) return std::unexpected(ErrnoError("fork", "", errno));
  if (holder == 0) Hold(std::move(theirs), wanted);
  theirs.Reset();
  std::array<char, 8192> answer;  // longer than any path
  const ssize_t n = sys::Read(ends[0], answer.data(), answer.size());
  TRY_VOID(Understand({answer.data(), static_cast<size_t>(std::max<ssize_t>(n, 0))}));
  return placeholders;
}

Result<> Placeholders::KeepUntilEndOf(int pidfd) {
  return lifeline_.is_open() ? sys::SendDescriptors(lifeline_.get(), std::array{pidfd}) : Result<>();
}

// Not by closing it: others may have copies.
Placeholders::~Placeholders() {
  if (!lifeline_.is_open()) return;
  ::shutdown(lifeline_.get(), SHUT_WR);
  char none;
  (void)sys::Read(lifeline_.get(), &none, 1);  // the end, when nothing is left to remove at once
}

}  // namespace holdfast::sandbox
