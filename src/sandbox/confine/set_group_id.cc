#include "sandbox/confine/set_group_id.h"

#include <asm/unistd.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <linux/openat2.h>
#include <linux/seccomp.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <climits>
#include <cstddef>
#include <expected>
#include <optional>
#include <string>
#include <string_view>

#include <fmt/format.h>

#include "base/parse_number.h"
#include "sandbox/confine/bpf_assembler.h"
#include "sandbox/confine/syscall_sets.h"
#include "sys/spawn.h"

namespace holdfast::sandbox {
namespace {

constexpr unsigned kWaitKillable = 1u << 5;  // SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV

template <typename T>
using OrErrno = std::expected<T, int>;

constexpr size_t OffsetOf(size_t argument) { return offsetof(seccomp_data, args) + argument * sizeof(uint64_t); }

// The arguments of a call that changes a mode, whichever of the four calls it is.
struct Change {
  int base = AT_FDCWD;                // the directory that a relative path begins at; without a path, the file itself
  std::optional<uint64_t> path = {};  // an address in the caller's memory
  mode_t mode = 0;
  int flags = 0;
};

Change ChangeOf(const seccomp_data& call) {
  const auto base = static_cast<int>(call.args[0]);
  switch (call.nr) {
    case __NR_chmod:
      return {.path = call.args[0], .mode = static_cast<mode_t>(call.args[1])};
    case __NR_fchmod:
      return {.base = base, .mode = static_cast<mode_t>(call.args[1])};
    case __NR_fchmodat:
      return {.base = base, .path = call.args[1], .mode = static_cast<mode_t>(call.args[2])};
    default:  // fchmodat2
      return {.base = base,
              .path = call.args[1],
              .mode = static_cast<mode_t>(call.args[2]),
              .flags = static_cast<int>(call.args[3])};
  }
}

// The read asks for PATH_MAX bytes. It ends early where no memory is mapped, which may be right behind the path.
OrErrno<std::string> ReadPath(int memory, uint64_t address) {
  std::array<char, PATH_MAX> text;
  const ssize_t size = ::pread(memory, text.data(), text.size(), static_cast<off_t>(address));
  if (size < 0) return std::unexpected(errno == EBADF ? EPERM : EFAULT);
  const size_t end = std::string_view(text.data(), static_cast<size_t>(size)).find('\0');
  if (end != std::string_view::npos) return std::string(text.data(), end);
  return std::unexpected(size == PATH_MAX ? ENAMETOOLONG : EFAULT);
}

// Returns the descriptor that a path of the form /proc/self/fd/N names. libc uses such a path to change the mode of an
// open file where the kernel has no fchmodat2.
std::optional<int> OwnDescriptor(std::string_view path) {
  constexpr std::string_view own = "/proc/self/fd/";
  if (!path.starts_with(own)) return std::nullopt;
  path.remove_prefix(own.size());
  const auto fd = ParseNumber<int>(path);
  return fd && *fd >= 0 ? fd : std::nullopt;
}

OrErrno<OwnedFd> OpenDirectory(int base, const std::string& path, int flags, uint64_t resolve) {
  const open_how how = {
      .flags = static_cast<unsigned>(O_PATH | O_DIRECTORY | O_CLOEXEC | flags), .mode = 0, .resolve = resolve};
  OwnedFd opened(static_cast<int>(::syscall(__NR_openat2, base, path.c_str(), &how, sizeof how)));
  if (!opened.is_open()) return std::unexpected(errno);
  return opened;
}

// WaitingCall is one call of a command that waits for its answer. The calling process may be killed at any moment, and
// its number may then be given to another process. A file that was opened by that number therefore counts only if the
// call still waits afterwards.
class WaitingCall {
 public:
  WaitingCall(int listener, const seccomp_notif& question, int memory)
      : listener_(listener), id_(question.id), pid_(question.pid), memory_(memory), change_(ChangeOf(question.data)) {}

  // Returns 0 or an errno.
  int CarryOut() {
    const auto directory = OpenDirectoryMeant();
    if (!directory) return directory.error() == ENOTDIR ? EPERM : directory.error();  // files do not get the bit
    // The directory is named by its path in /proc, because fchmod does not accept a descriptor opened with O_PATH.
    const std::string name = fmt::format("/proc/self/fd/{}", directory->get());
    return ::chmod(name.c_str(), change_.mode) == 0 ? 0 : errno;
  }

 private:
  OrErrno<OwnedFd> OpenDirectoryMeant() {
    if (!change_.path) return OpenBase();
    auto path = ReadPath(memory_, *change_.path);
    if (!path) return std::unexpected(path.error());
    if (!StillWaits()) return std::unexpected(ESRCH);
    if (const auto own = OwnDescriptor(*path)) {
      change_.base = *own;
      return OpenBase();
    }
    if (path->empty() && (change_.flags & AT_EMPTY_PATH) != 0) return OpenBase();
    auto base = path->starts_with('/') ? OpenDirectory(AT_FDCWD, "/", 0, 0) : OpenBase();
    if (!base) return base;
    // Magic links such as /proc/self/cwd would lead to what this process has open, not to what its caller has.
    const int last = (change_.flags & AT_SYMLINK_NOFOLLOW) != 0 ? O_NOFOLLOW : 0;
    return OpenDirectory(base->get(), *path, last, RESOLVE_NO_MAGICLINKS);
  }

  // While the call waits, its process exists, and no other process can have its number.
  bool StillWaits() const { return ::ioctl(listener_, SECCOMP_IOCTL_NOTIF_ID_VALID, &id_) == 0; }

  OrErrno<OwnedFd> OpenBase() const {
    const std::string name = change_.base == AT_FDCWD ? fmt::format("/proc/{}/cwd", pid_)
                                                      : fmt::format("/proc/{}/fd/{}", pid_, change_.base);
    auto opened = OpenDirectory(AT_FDCWD, name, 0, 0);
    if (!StillWaits()) return std::unexpected(ESRCH);
    if (!opened && opened.error() == ENOENT) return std::unexpected(EBADF);
    return opened;
  }

  const int listener_;
  const uint64_t id_;
  const uint32_t pid_;
  const int memory_;
  Change change_;
};

}  // namespace

BpfProgram MakeCommandLayer(SetGroupId answer) {
  using Test = BpfAssembler::Test;
  BpfAssembler code;
  const auto second = code.NewLabel(), third = code.NewLabel(), sets = code.NewLabel(), allow = code.NewLabel();
  const auto unknown = code.NewLabel();
  code.Load(offsetof(seccomp_data, nr));  // the filter below ends a process that uses another ABI
  code.JumpIfOneOf({__NR_chmod, __NR_fchmod}, second, BpfAssembler::kNext);
  code.JumpIfOneOf({__NR_fchmodat, kFchmodat2}, third, BpfAssembler::kNext);
  code.Jump(Test::kEqual, __NR_openat2, unknown, allow);
  code.Bind(second);
  code.Load(OffsetOf(1));
  code.Jump(Test::kAnyBit, S_ISGID, sets, allow);
  code.Bind(third);
  code.Load(OffsetOf(2));
  code.Jump(Test::kAnyBit, S_ISGID, sets, allow);
  code.Bind(sets);
  code.Return(answer == SetGroupId::kAsk ? SECCOMP_RET_USER_NOTIF : SECCOMP_RET_ERRNO | EPERM);
  code.Bind(unknown);
  code.Return(SECCOMP_RET_ERRNO | ENOSYS);
  code.Bind(allow);
  code.Return(SECCOMP_RET_ALLOW);
  return code.Finish();
}

// Few programs expect that a signal interrupts a chmod. From Linux 5.19 on kWaitKillable prevents that, once pid 1 has
// received the notification.
Result<OwnedFd> InstallCommandLayer() {
  const BpfProgram asking = MakeCommandLayer(SetGroupId::kAsk);
  const sock_fprog image = {.len = static_cast<unsigned short>(asking.size()),
                            .filter = const_cast<sock_filter*>(asking.data())};
  for (const unsigned waiting : {kWaitKillable, 0u}) {
    const unsigned flags = SECCOMP_FILTER_FLAG_NEW_LISTENER | waiting;
    OwnedFd listener(static_cast<int>(::syscall(__NR_seccomp, SECCOMP_SET_MODE_FILTER, flags, &image)));
    if (listener.is_open()) return listener;
  }
  TRY_VOID(InstallFilter(MakeCommandLayer(SetGroupId::kRefuse)));
  return OwnedFd();
}

// In a /proc of another pid namespace this process has another number, or none.
bool SeesProcesses() {
  struct statfs status;
  char number[8] = {};
  return ::getpid() == 1 && ::statfs("/proc", &status) == 0 && status.f_type == PROC_SUPER_MAGIC &&
         ::readlink("/proc/self", number, sizeof number - 1) == 1 && number[0] == '1';
}

// pid 1 itself opens the caller's memory: Yama permits that because the caller descends from pid 1. The child that does
// the rest is under the same Landlock rules and filter as the caller.
void SetGroupIdSupervisor::Answer() const {
  seccomp_notif question = {};
  if (::ioctl(listener_.get(), SECCOMP_IOCTL_NOTIF_RECV, &question) < 0) return;  // the caller is gone
  const OwnedFd memory(::open(fmt::format("/proc/{}/mem", question.pid).c_str(), O_RDONLY | O_CLOEXEC));
  auto in_child = [&] {
    Reply(question.id, WaitingCall(listener_.get(), question, memory.get()).CarryOut());
    return 0;
  };
  if (!sys::Spawn(sys::Sharing::kNothing, in_child)) Reply(question.id, EAGAIN);
}

void SetGroupIdSupervisor::Reply(uint64_t id, int error) const {
  seccomp_notif_resp reply = {.id = id, .val = 0, .error = -error, .flags = 0};
  (void)::ioctl(listener_.get(), SECCOMP_IOCTL_NOTIF_SEND, &reply);  // the caller may be gone
}

}  // namespace holdfast::sandbox
