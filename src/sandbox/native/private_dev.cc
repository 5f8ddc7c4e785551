#include "sandbox/native/private_dev.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "sandbox/jail/group_limits.h"
#include "sandbox/native/mount_calls.h"
#include "sys/file_identity.h"
#include "sys/read_link.h"

namespace holdfast::sandbox {
namespace {

constexpr std::array kNodes = {"null", "zero", "full", "random", "urandom", "tty"};
constexpr std::array<std::pair<const char*, const char*>, 6> kLinks = {{{"fd", "/proc/self/fd"},
                                                                        {"stdin", "/proc/self/fd/0"},
                                                                        {"stdout", "/proc/self/fd/1"},
                                                                        {"stderr", "/proc/self/fd/2"},
                                                                        {"ptmx", "pts/ptmx"},
                                                                        {"core", "/proc/kcore"}}};

std::string In(std::string_view name) { return fmt::format("/dev/{}", name); }

Result<OwnedFd> TakeNode(int root, const std::string& path) {
  TRY(const OwnedFd file, Look(root, path));
  return CloneMount(file.get(), Extent::kOne, path);
}

// Returns the node of the terminal, if it has a path below `root`. A terminal of another container has none, and then
// there is no /dev/console.
std::optional<OwnedFd> TakeTerminal(int root, int terminal) {
  const auto path = sys::ReadLink(fmt::format("/proc/self/fd/{}", terminal));
  if (!path || !path->starts_with("/dev/")) return std::nullopt;
  const OwnedFd file(std::max(TryLook(root, *path), -1));
  struct stat ours, theirs;
  if (!file.is_open() || ::fstat(file.get(), &theirs) < 0 || ::fstat(terminal, &ours) < 0) return std::nullopt;
  if (!sys::IsSameFile(ours, theirs)) return std::nullopt;
  auto mount = CloneMount(file.get(), Extent::kOne, *path);
  return mount ? std::optional(*std::move(mount)) : std::nullopt;
}

// Makes the directories and links. The umask of this process does not count, because fchmodat sets the modes.
Result<> Fill(int dev) {
  for (const auto& [name, target] : kLinks) {
    if (::symlinkat(target, dev, name) < 0) return FailErrno("symlink", In(name));
  }
  for (const char* const name : {"shm", "pts"}) {
    if (::mkdirat(dev, name, 0755) < 0) return FailErrno("mkdir", In(name));
    if (::fchmodat(dev, name, 0755, 0) < 0) return FailErrno("chmod", In(name));
  }
  return {};
}

// The mount point is made by name, and no other process can reach this file system.
Result<> AttachNode(int dev, const DeviceNodes::Node& node) {
  const std::string path = In(node.name);
  if (::mknodat(dev, node.name.c_str(), S_IFREG | 0444, 0) < 0) return FailErrno("mknod", path);
  const OwnedFd target(::openat(dev, node.name.c_str(), O_PATH | O_CLOEXEC | O_NOFOLLOW));
  if (!target.is_open()) return FailErrno("open", path);
  TRY_VOID(SetAttributes(node.mount.get(), Extent::kOne, kReadOnly | kNoPrivileges | kNoPrograms, path));
  return Attach(node.mount.get(), target.get(), path);
}

Result<> AttachTo(int dev, const char* name, const OwnedFd& mount) {
  const OwnedFd target(::openat(dev, name, O_PATH | O_CLOEXEC | O_NOFOLLOW | O_DIRECTORY));
  if (!target.is_open()) return FailErrno("open", In(name));
  return Attach(mount.get(), target.get(), In(name));
}

}  // namespace

Result<DeviceNodes> DeviceNodes::Take(int root, int terminal) {
  DeviceNodes taken;
  for (const char* const name : kNodes) {
    TRY(OwnedFd mount, TakeNode(root, In(name)));
    taken.nodes.push_back({.name = name, .mount = std::move(mount)});
  }
  if (terminal < 0) return taken;
  if (auto console = TakeTerminal(root, terminal)) {
    taken.nodes.push_back({.name = "console", .mount = *std::move(console)});
  }
  return taken;
}

Result<OwnedFd> AttachDev(int target, const DeviceNodes& nodes) {
  TRY(OwnedFd dev, NewTmpfs(0755));
  TRY_VOID(Attach(dev.get(), target, "/dev"));
  TRY_VOID(Fill(dev.get()));
  for (const DeviceNodes::Node& node : nodes.nodes) TRY_VOID(AttachNode(dev.get(), node));
  return dev;
}

Result<> SealDev(int dev) { return SetAttributes(dev, Extent::kOne, kReadOnly | kNoPrograms, "/dev"); }

Result<OwnedFd> AttachSharedMemory(int dev) {
  TRY(OwnedFd shm, NewTmpfs(01777));
  TRY_VOID(AttachTo(dev, "shm", shm));
  return shm;
}

Result<OwnedFd> AttachTerminals(int dev) {
  TRY(OwnedFd pts, NewFileSystem("devpts", {{"ptmxmode", "0666"}, {"mode", "620"}, {"max", kMaxTerminals}},
                                 kNoPrivileges | kNoPrograms));
  TRY_VOID(AttachTo(dev, "pts", pts));
  return pts;
}

Result<OwnedFd> TakeHostTerminals(int root) {
  const OwnedFd pts(std::max(TryLook(root, "/dev/pts"), -1));
  if (!pts.is_open()) return OwnedFd();
  return CloneMount(pts.get(), Extent::kOne, "/dev/pts");
}

Result<> AttachHostTerminals(int dev, const OwnedFd& terminals) {
  if (!terminals.is_open()) return {};
  TRY_VOID(SetAttributes(terminals.get(), Extent::kOne, kNoPrivileges | kNoPrograms, "/dev/pts"));
  return AttachTo(dev, "pts", terminals);
}

}  // namespace holdfast::sandbox
