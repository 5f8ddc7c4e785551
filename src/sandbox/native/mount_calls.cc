#include "sandbox/native/mount_calls.h"

#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>

#include <fmt/format.h>

namespace holdfast::sandbox {
namespace {

unsigned Recursion(Extent extent) { return extent == Extent::kWhole ? AT_RECURSIVE : 0; }

int TryOpen(int root, const std::string& path, uint64_t flags) {
  const size_t start = path.find_first_not_of('/');
  open_how how = {};
  how.flags = flags;
  how.resolve = RESOLVE_IN_ROOT | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS;
  const char* const relative = start == std::string::npos ? "." : path.c_str() + start;
  long fd;
  do {
    fd = ::syscall(SYS_openat2, root, relative, &how, sizeof how);
  } while (fd < 0 && (errno == EINTR || errno == EAGAIN));
  return fd < 0 ? -errno : static_cast<int>(fd);
}

}  // namespace

// O_NOFOLLOW must not be added: with it the kernel opens a link at the end of the path instead of refusing it.
int TryLook(int root, const std::string& path) { return TryOpen(root, path, O_PATH | O_CLOEXEC); }

int TryLookAtLink(int root, const std::string& path) { return TryOpen(root, path, O_PATH | O_CLOEXEC | O_NOFOLLOW); }

Result<OwnedFd> Look(int root, const std::string& path) {
  const int fd = TryLook(root, path);
  if (fd < 0) return FailErrno("open", path, -fd);
  return OwnedFd(fd);
}

CallResult<OwnedFd> CloneMount(int fd, Extent extent, const std::string& path) {
  OwnedFd mount(::open_tree(fd, "", OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC | AT_EMPTY_PATH | Recursion(extent)));
  if (!mount.is_open()) return FailCall("open_tree", path);
  return mount;
}

CallResult<OwnedFd> NewFileSystem(const char* type, std::initializer_list<std::pair<const char*, std::string>> options,
                                  uint64_t attributes) {
  const OwnedFd context(::fsopen(type, FSOPEN_CLOEXEC));
  if (!context.is_open()) return FailCall("fsopen", type);
  // The source has no meaning for these file systems, but lists of mounts show it.
  if (::fsconfig(context.get(), FSCONFIG_SET_STRING, "source", type, 0) < 0) return FailCall("fsconfig", type);
  for (const auto& [name, value] : options) {
    if (::fsconfig(context.get(), FSCONFIG_SET_STRING, name, value.c_str(), 0) < 0) return FailCall("fsconfig", type);
  }
  if (::fsconfig(context.get(), FSCONFIG_CMD_CREATE, nullptr, nullptr, 0) < 0) return FailCall("fsconfig", type);
  OwnedFd mount(::fsmount(context.get(), FSMOUNT_CLOEXEC, static_cast<unsigned>(attributes)));
  if (!mount.is_open()) return FailCall("fsmount", type);
  return mount;
}

CallResult<OwnedFd> NewTmpfs(uint32_t mode) {
  return NewFileSystem("tmpfs", {{"mode", fmt::format("{:o}", mode)}}, kNoPrivileges | kNoDevices);
}

CallResult<> SetAttributes(int mount, Extent extent, uint64_t attributes, const std::string& path) {
  mount_attr change = {};
  change.attr_set = attributes;
  change.propagation = MS_PRIVATE;
  if (::mount_setattr(mount, "", AT_EMPTY_PATH | Recursion(extent), &change, sizeof change) < 0) {
    return FailCall("mount_setattr", path);
  }
  return {};
}

CallResult<> Attach(int mount, int target, const std::string& path) {
  if (::move_mount(mount, "", target, "", MOVE_MOUNT_F_EMPTY_PATH | MOVE_MOUNT_T_EMPTY_PATH) < 0) {
    return FailCall("move_mount", path);
  }
  return {};
}

}  // namespace holdfast::sandbox
