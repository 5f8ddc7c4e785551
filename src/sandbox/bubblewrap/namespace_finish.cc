#include "sandbox/bubblewrap/namespace_finish.h"

#include <fcntl.h>
#include <linux/nsfs.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>
#include <string>
#include <variant>

#include <fmt/format.h>

#include "base/owned_fd.h"
#include "base/parse_number.h"
#include "sandbox/jail/group_limits.h"
#include "sys/fdinfo.h"
#include "sys/spawn.h"

namespace holdfast::sandbox {
namespace {

// The nodes that bubblewrap binds. /dev/console is there only when bubblewrap has a terminal.
constexpr std::array kNodes = {"/dev/null",    "/dev/zero", "/dev/full",   "/dev/random",
                               "/dev/urandom", "/dev/tty",  "/dev/console"};

// Returns the number of a process in the pid namespace of the /proc that is mounted here.
Result<int> NumberOf(int pidfd) {
  TRY(const std::string description, sys::ReadFdInfo(pidfd));
  const auto number = ParseNumber<int>(sys::ValueIn(description, "Pid"));
  if (number && *number > 0) return *number;
  return Fail(ErrorKind::kSystem, fmt::format("descriptor {}: names no process", pidfd));
}

// Returns the user namespace that owns a mount namespace. Only rights in that namespace allow changes of its mounts;
// the command may be in another user namespace.
Result<OwnedFd> OwnerOf(const OwnedFd& mounts) {
  OwnedFd users(::ioctl(mounts.get(), NS_GET_USERNS));
  if (!users.is_open()) return FailErrno("ioctl", "NS_GET_USERNS");
  return users;
}

// Makes the mounts of the nodes read-only. Devices can still be written to on a read-only mount. Returns 0 or an errno.
int SealNodesInChild() {
  mount_attr read_only = {};
  read_only.attr_set = MOUNT_ATTR_RDONLY;
  for (const char* const node : kNodes) {
    const long done = ::syscall(SYS_mount_setattr, AT_FDCWD, node, AT_SYMLINK_NOFOLLOW, &read_only, sizeof read_only);
    if (done < 0 && errno != ENOENT) return errno == ENOSYS ? 0 : errno;
  }
  return 0;
}

// Limits the terminals of the /dev/pts that bubblewrap has mounted, and repeats its options: the kernel sets those that
// are not named to their defaults. Returns 0 or an errno.
int LimitTerminalsInChild() {
  const int context = ::fspick(AT_FDCWD, "/dev/pts", FSPICK_CLOEXEC | FSPICK_SYMLINK_NOFOLLOW);
  if (context < 0) return errno == ENOSYS ? 0 : errno;
  int error = 0;
  for (const auto& [name, value] :
       {std::pair("ptmxmode", "0666"), std::pair("mode", "620"), std::pair("max", kMaxTerminals)}) {
    if (error == 0 && ::fsconfig(context, FSCONFIG_SET_STRING, name, value, 0) < 0) error = errno;
  }
  if (error == 0 && ::fsconfig(context, FSCONFIG_CMD_RECONFIGURE, nullptr, nullptr, 0) < 0) error = errno;
  ::close(context);
  return error;
}

int FinishInChild(int users, int mounts, bool has_private_nodes) {
  if (::setns(users, CLONE_NEWUSER) < 0) return errno;
  LimitGroups();
  if (!has_private_nodes) return 0;
  if (::setns(mounts, CLONE_NEWNS) < 0) return errno;
  const int error = SealNodesInChild();
  return error != 0 ? error : LimitTerminalsInChild();
}

// The child shares the memory of this process. When the child gains capabilities in the user namespace, the kernel
// makes it undumpable, and this process with it. That is undone here.
Result<int> FinishIn(const OwnedFd& users, const OwnedFd& mounts, bool has_private_nodes) {
  const int dumpable = ::prctl(PR_GET_DUMPABLE, 0, 0, 0, 0);
  int error = 0;
  auto in_child = [&] {
    error = FinishInChild(users.get(), mounts.get(), has_private_nodes);
    return 0;
  };
  TRY(const pid_t child, sys::Spawn(sys::Sharing::kMemory, in_child));
  if (dumpable == 1) ::prctl(PR_SET_DUMPABLE, 1, 0, 0, 0);
  (void)sys::AwaitStatus(child);
  return error;
}

bool HasPrivateNodes(const NamespacePlan& plan) {
  return std::ranges::any_of(plan.mounts, [](const Mount& mount) { return std::holds_alternative<PrivateDev>(mount); });
}

Result<> Finish(int inner, const NamespacePlan& plan) {
  TRY(const int number, NumberOf(inner));
  const std::string path = fmt::format("/proc/{}/ns/mnt", number);
  const OwnedFd mounts(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!mounts.is_open()) return FailErrno("open", path);
  TRY(const OwnedFd users, OwnerOf(mounts));
  TRY(const int error, FinishIn(users, mounts, HasPrivateNodes(plan)));
  if (error != 0) return FailErrno("seal", "/dev", error);
  return {};
}

}  // namespace

// For an ordinary user a failure does not prevent the start: the command can then only change the times of the nodes
// and use up the user's inotify and fanotify groups, and the terminals of sandboxes.
Result<> FinishNamespaces(int inner, const NamespacePlan& plan) {
  auto finished = Finish(inner, plan);
  if (!finished && ::geteuid() == 0) return finished;
  return {};
}

}  // namespace holdfast::sandbox
