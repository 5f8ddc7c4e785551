#include "sandbox/bubblewrap/namespace_finish.h"

#include <fcntl.h>
#include <linux/nsfs.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>
#include <iterator>
#include <span>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include <fmt/format.h>

#include "base/owned_fd.h"
#include "base/parse_number.h"
#include "sandbox/jail/group_limits.h"
#include "sys/fdinfo.h"
#include "sys/file_identity.h"
#include "sys/open.h"
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

// Mounts a link on itself, by descriptor. Returns 0 or an errno.
int PinInChild(const MountCheck& link) {
  const OwnedFd itself(sys::TryOpenAt(AT_FDCWD, link.path, O_PATH | O_NOFOLLOW, sys::Links::kNone));
  struct stat status;
  if (!itself.is_open() || ::fstat(itself.get(), &status) < 0) return ESTALE;
  if (!S_ISLNK(status.st_mode) || sys::FileIdentity::Of(status) != link.outside) return ESTALE;
  const OwnedFd mount(::open_tree(itself.get(), "", OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC | AT_EMPTY_PATH));
  if (!mount.is_open()) return errno;
  constexpr unsigned by_descriptors = MOVE_MOUNT_F_EMPTY_PATH | MOVE_MOUNT_T_EMPTY_PATH;
  return ::move_mount(mount.get(), "", itself.get(), "", by_descriptors) < 0 ? errno : 0;
}

// The namespaces of the sandbox, and what is left to do in them.
struct Unfinished {
  OwnedFd users, mounts;
  bool has_private_nodes;
  std::vector<MountCheck> links;
};

// What could not be done, and the reason.
struct Failure {
  const char* call = "seal";
  std::string path = "/dev";
  int error = 0;
};

Failure FinishInChild(const Unfinished& sandbox) {
  if (::setns(sandbox.users.get(), CLONE_NEWUSER) < 0) return {.call = "setns", .path = "user", .error = errno};
  LimitGroups();
  if (!sandbox.has_private_nodes && sandbox.links.empty()) return {};
  if (::setns(sandbox.mounts.get(), CLONE_NEWNS) < 0) return {.call = "setns", .path = "mnt", .error = errno};
  int error = sandbox.has_private_nodes ? SealNodesInChild() : 0;
  if (error == 0 && sandbox.has_private_nodes) error = LimitTerminalsInChild();
  for (const MountCheck& link : sandbox.links) {
    if (const int why = PinInChild(link); why != 0) return {.call = "mount", .path = link.path, .error = why};
  }
  return {.error = error};
}

// The child shares the memory of this process. When the child gains capabilities in the user namespace, the kernel
// makes it undumpable, and this process with it. That is undone here.
Result<Failure> FinishIn(const Unfinished& sandbox) {
  const int dumpable = ::prctl(PR_GET_DUMPABLE, 0, 0, 0, 0);
  Failure failure;
  auto in_child = [&] {
    failure = FinishInChild(sandbox);
    return 0;
  };
  TRY(const pid_t child, sys::Spawn(sys::Sharing::kMemory, in_child));
  if (dumpable == 1) ::prctl(PR_SET_DUMPABLE, 1, 0, 0, 0);
  (void)sys::AwaitStatus(child);
  return failure;
}

bool HasPrivateNodes(const NamespacePlan& plan) {
  return std::ranges::any_of(plan.mounts, [](const Mount& mount) { return std::holds_alternative<PrivateDev>(mount); });
}

std::vector<MountCheck> LinksIn(std::span<const MountCheck> noted) {
  std::vector<MountCheck> links;
  std::ranges::copy_if(noted, std::back_inserter(links),
                       [](const MountCheck& check) { return check.kind == MountCheck::Kind::kLink; });
  return links;
}

Result<> Finish(int inner, const NamespacePlan& plan, std::span<const MountCheck> noted) {
  TRY(const int number, NumberOf(inner));
  const std::string path = fmt::format("/proc/{}/ns/mnt", number);
  OwnedFd mounts(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!mounts.is_open()) return FailErrno("open", path);
  TRY(OwnedFd users, OwnerOf(mounts));
  TRY(const Failure failure, FinishIn({.users = std::move(users),
                                       .mounts = std::move(mounts),
                                       .has_private_nodes = HasPrivateNodes(plan),
                                       .links = LinksIn(noted)}));
  if (failure.error != 0) return FailErrno(failure.call, failure.path, failure.error);
  return {};
}

}  // namespace

// For an ordinary user a failure does not prevent the start if there are no links: the command can then only change the
// times of the nodes and use up the user's inotify and fanotify groups, and the terminals of sandboxes. The inner stage
// looks at the links once more.
Result<> FinishNamespaces(int inner, const NamespacePlan& plan, std::span<const MountCheck> noted) {
  auto finished = Finish(inner, plan, noted);
  if (!finished && (::geteuid() == 0 || !LinksIn(noted).empty())) return finished;
  return {};
}

}  // namespace holdfast::sandbox
