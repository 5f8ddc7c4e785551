#include "sandbox/native/tree_builder.h"

#include <fcntl.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <utility>
#include <variant>

#include <fmt/format.h>

#include "base/check.h"
#include "base/paths.h"
#include "sandbox/native/holds.h"
#include "sandbox/native/mount_calls.h"
#include "sys/file_identity.h"

namespace holdfast::sandbox {
namespace {

// The parts of /proc by which settings of the machine are changed. Those besides /proc/sys belong to root, and need no
// mount for other users.
constexpr const char* kSysctls = "/proc/sys";
constexpr std::array kRootsKnobs = {"/proc/sysrq-trigger", "/proc/irq", "/proc/bus", "/proc/fs",
                                    "/proc/acpi",          "/proc/scsi"};

bool IsDevicePath(std::string_view path) { return IsAtOrBelow(path, "/dev"); }

bool IsGone(int error) { return error == ENOENT || error == ENOTDIR || error == ELOOP; }

const std::string* BoundPath(const Mount& mount) {
  return std::visit(
      [](const auto& step) -> const std::string* {
        using Type = std::decay_t<decltype(step)>;
        constexpr bool binds = std::is_same_v<Type, ReadOnlyBind> || std::is_same_v<Type, WritableBind> ||
                               std::is_same_v<Type, PinnedBind> || std::is_same_v<Type, HeldDirectory>;
        if constexpr (binds) return &step.path;
        return nullptr;
      },
      mount);
}

const std::string* PathOf(const Mount& mount) {
  return std::visit(
      [](const auto& step) -> const std::string* {
        if constexpr (requires { step.path; }) return &step.path;
        return nullptr;
      },
      mount);
}

std::optional<uint64_t> MountId(int fd) {
  struct statx status;
  if (::statx(fd, "", AT_EMPTY_PATH, STATX_MNT_ID, &status) < 0) return std::nullopt;
  return (status.stx_mask & STATX_MNT_ID) != 0 ? std::optional<uint64_t>(status.stx_mnt_id) : std::nullopt;
}

Result<> SealPath(int root, const char* path) {
  const int file = TryLook(root, path);
  if (file == -ENOENT) return {};
  if (file < 0) return FailErrno("open", path, -file);
  const OwnedFd target(file);
  TRY(const OwnedFd mount, CloneMount(file, Extent::kOne, path));
  TRY_VOID(SetAttributes(mount.get(), Extent::kOne, kReadOnly, path));
  return Attach(mount.get(), file, path);
}

}  // namespace

std::unexpected<Error> ReplacedMeanwhile(const std::string& path) {
  return Fail(ErrorKind::kNotFound, fmt::format("mount {}: it has been replaced in the meantime", path));
}

Result<OwnedFd> AttachProc(int root, const FreshProc& proc) {
  constexpr uint64_t attributes = kNoPrivileges | kNoDevices | kNoPrograms;
  TRY(OwnedFd mount, NewFileSystem("proc", {}, attributes | (proc.only_knobs ? 0 : kReadOnly)));
  TRY(const OwnedFd target, Look(root, "/proc"));
  TRY_VOID(Attach(mount.get(), target.get(), "/proc"));
  if (!proc.only_knobs) return mount;
  TRY_VOID(SealPath(root, kSysctls));
  if (::geteuid() != 0) return mount;
  for (const char* const knob : kRootsKnobs) TRY_VOID(SealPath(root, knob));
  return mount;
}

TreeBuilder::TreeBuilder(const NamespacePlan& plan, std::span<const MountCheck> noted, Parts parts)
    : plan_(plan),
      parts_(parts),
      has_empty_root_(!plan.mounts.empty() && std::holds_alternative<EmptyRoot>(plan.mounts.front())) {
  for (const MountCheck& check : noted) noted_.emplace(check.path, check.outside);
}

Result<> TreeBuilder::Build(int terminal) {
  outside_ = OwnedFd(::open("/", O_PATH | O_DIRECTORY | O_CLOEXEC));
  if (!outside_.is_open()) return FailErrno("open", "/");
  TRY_VOID(TakeSources(terminal));
  TRY_VOID(OpenTree());
  for (const Mount& mount : plan_.mounts) {
    TRY_VOID(std::visit([this](const auto& step) { return Step(step); }, mount));
  }
  TRY_VOID(Finish());
  return Enter();
}

// A bind shows what is outside, and not what earlier steps have put there. So all copies are taken first, while the
// tree is as it was: also because a flag that the root gets could not be cleared again for a copy of it.
Result<> TreeBuilder::TakeSources(int terminal) {
  for (const Mount& mount : plan_.mounts) {
    if (std::holds_alternative<PrivateDev>(mount)) {
      TRY(nodes_, DeviceNodes::Take(outside_.get(), terminal));
      if (parts_ == Parts::kShared) {
        TRY(host_terminals_, TakeHostTerminals(outside_.get()));
      }
    }
    const std::string* const path = BoundPath(mount);
    if (path == nullptr || *path == "/" || sources_.contains(*path)) continue;
    TRY(OwnedFd source, TakeSource(*path));
    sources_.emplace(*path, std::move(source));
  }
  return {};
}

Result<OwnedFd> TreeBuilder::TakeSource(const std::string& path) {
  const int file = TryLook(outside_.get(), path);
  if (file < 0 && IsGone(-file)) return ReplacedMeanwhile(path);
  if (file < 0) return FailErrno("open", path, -file);
  const OwnedFd opened(file);
  TRY(const sys::FileIdentity identity, sys::IdentityOf(file, path));
  const auto noted = noted_.find(path);
  if (noted == noted_.end() || noted->second != identity) return ReplacedMeanwhile(path);
  return CloneMount(file, Extent::kWhole, path);
}

// Opens the root of the sandbox. In place, it is the root as it is, with other attributes.
Result<> TreeBuilder::OpenTree() {
  if (has_empty_root_) {
    TRY_VOID(SetAttributes(outside_.get(), Extent::kWhole, 0, "/"));
    TRY(tree_, NewTmpfs(0755));
    TRY_VOID(Attach(tree_.get(), outside_.get(), "/"));
    TRY_VOID(Own(tree_.get()));
  } else {
    const bool is_read_only = !plan_.mounts.empty() && std::holds_alternative<ReadOnlyBind>(plan_.mounts.front());
    const uint64_t attributes = kNoPrivileges | kNoDevices | (is_read_only ? kReadOnly : 0);
    TRY_VOID(SetAttributes(outside_.get(), Extent::kWhole, attributes, "/"));
    tree_ = OwnedFd(::fcntl(outside_.get(), F_DUPFD_CLOEXEC, 0));
    if (!tree_.is_open()) return FailErrno("fcntl", "/");
  }
  covers_.emplace(tree_.get());
  return {};
}

Result<> TreeBuilder::Finish() {
  TRY_VOID(covers_->Finish());
  return dev_.is_open() ? SealDev(dev_.get()) : Result<>();
}

// Makes an empty root the root of this process, and of the mount namespace.
Result<> TreeBuilder::Enter() {
  if (has_empty_root_) {
    if (::fchdir(tree_.get()) < 0) return FailErrno("fchdir", "/");
    if (::syscall(SYS_pivot_root, ".", ".") < 0) return FailErrno("pivot_root", "/");
    if (::umount2(".", MNT_DETACH) < 0) return FailErrno("umount", "/");
  }
  if (::chdir("/") < 0) return FailErrno("chdir", "/");
  return {};
}

Result<> TreeBuilder::Step(const ReadOnlyBind& bind) { return Bind(bind.path, kReadOnly | kNoPrivileges | kNoDevices); }

Result<> TreeBuilder::Step(const WritableBind& bind) {
  return Bind(bind.path, IsDevicePath(bind.path) ? kNoPrivileges : kNoPrivileges | kNoDevices);
}

Result<> TreeBuilder::Step(const PinnedBind& bind) { return Bind(bind.path, kNoPrivileges | kNoDevices); }

// Mounts the link on itself.
Result<> TreeBuilder::Step(const PinnedLink& link) {
  const int file = TryLookAtLink(tree_.get(), link.path);
  if (file < 0 && IsGone(-file)) return ReplacedMeanwhile(link.path);
  if (file < 0) return FailErrno("open", link.path, -file);
  const OwnedFd itself(file);
  TRY(const sys::FileIdentity identity, sys::IdentityOf(file, link.path));
  const auto noted = noted_.find(link.path);
  if (noted == noted_.end() || noted->second != identity) return ReplacedMeanwhile(link.path);
  TRY(const OwnedFd mount, CloneMount(file, Extent::kOne, link.path));
  TRY_VOID(SetAttributes(mount.get(), Extent::kOne, kReadOnly | kNoPrivileges | kNoDevices, link.path));
  return Attach(mount.get(), file, link.path);
}

// Holds the directories below the private /dev, which is mounted next and hides their copies. It does not hang on any
// of them: the kernel would take it away with a directory that a process outside removes.
Result<> TreeBuilder::HoldDirectories() {
  const auto is_held = [](const Mount& mount) { return std::holds_alternative<HeldDirectory>(mount); };
  const auto count = static_cast<size_t>(std::ranges::count_if(plan_.mounts, is_held));
  if (count == 0) return {};
  TRY(const OwnedFd dev, Look(tree_.get(), "/dev"));
  TRY(Holds holds, Holds::Make(dev.get(), count));
  for (const Mount& mount : plan_.mounts) {
    const auto* const held = std::get_if<HeldDirectory>(&mount);
    if (held != nullptr) TRY_VOID(holds.Hold(sources_.find(held->path)->second.get(), held->path));
  }
  return {};
}

// The directory is held since the private /dev was made. It has to be at its path still.
Result<> TreeBuilder::Step(const HeldDirectory& held) {
  CHECK(dev_.is_open());
  TRY_VOID(Target(held.path, S_IFDIR));
  return {};
}

Result<> TreeBuilder::Bind(const std::string& path, uint64_t attributes) {
  if (path == "/") return {};  // OpenTree has done it
  const OwnedFd& source = sources_.find(path)->second;
  struct stat status;
  if (::fstat(source.get(), &status) < 0) return FailErrno("fstat", path);
  TRY(const OwnedFd target, Target(path, status.st_mode & S_IFMT));
  TRY_VOID(SetAttributes(source.get(), Extent::kWhole, attributes, path));
  return Attach(source.get(), target.get(), path);
}

Result<> TreeBuilder::Step(const EmptyDirectory& empty) {
  if (IsPlaceholder(empty.path)) return {};
  TRY(const OwnedFd target, Target(empty.path, S_IFDIR));
  const bool holds_more = HoldsMore(empty.path);
  TRY(OwnedFd cover, holds_more ? NewTmpfs(empty.mode) : covers_->Directory(empty.mode));
  TRY_VOID(Attach(cover.get(), target.get(), empty.path));
  if (!holds_more) return {};
  TRY_VOID(Own(cover.get()));
  directories_.insert_or_assign(empty.path, std::move(cover));
  return {};
}

Result<> TreeBuilder::Step(const EmptyFile& empty) {
  if (IsPlaceholder(empty.path)) return {};
  TRY(const OwnedFd target, Target(empty.path, S_IFREG));
  TRY(const OwnedFd cover, covers_->File(empty.mode));
  return Attach(cover.get(), target.get(), empty.path);
}

Result<> TreeBuilder::Step(const MakeDirectory& make) {
  constexpr mode_t mode = 0111;
  TRY(const OwnedFd parent, ParentInOwnTree(make.path));
  const std::string name(NameOf(make.path));
  if (::mkdirat(parent.get(), name.c_str(), mode) < 0) return FailErrno("mkdir", make.path);
  if (::fchmodat(parent.get(), name.c_str(), mode, 0) < 0) return FailErrno("chmod", make.path);
  return {};
}

Result<> TreeBuilder::Step(const Symlink& link) {
  TRY_VOID(MakeMissing(std::string(ParentOf(link.path)), S_IFDIR));
  TRY(const OwnedFd parent, ParentInOwnTree(link.path));
  if (::symlinkat(link.target.c_str(), parent.get(), std::string(NameOf(link.path)).c_str()) < 0) {
    return FailErrno("symlink", link.path);
  }
  return {};
}

// A cover that holds nothing is read-only from the start.
Result<> TreeBuilder::Step(const Seal& seal) {
  if (seal.path == "/") return SetAttributes(tree_.get(), Extent::kOne, kReadOnly, "/");
  const auto directory = directories_.find(seal.path);
  if (directory == directories_.end()) return {};
  return SetAttributes(directory->second.get(), Extent::kOne, kReadOnly, seal.path);
}

Result<> TreeBuilder::Step(const PrivateDev&) {
  TRY_VOID(MakeMissing("/dev", S_IFDIR));
  TRY_VOID(HoldDirectories());
  TRY(const OwnedFd target, Look(tree_.get(), "/dev"));
  TRY(dev_, AttachDev(target.get(), *nodes_));
  TRY_VOID(Own(dev_.get()));
  if (parts_ == Parts::kShared) return AttachHostTerminals(dev_.get(), host_terminals_);
  TRY(const OwnedFd shared_memory, AttachSharedMemory(dev_.get()));
  TRY_VOID(Own(shared_memory.get()));
  TRY(const OwnedFd terminals, AttachTerminals(dev_.get()));
  return Own(terminals.get());
}

Result<> TreeBuilder::Step(const FreshProc& proc) {
  TRY_VOID(MakeMissing("/proc", S_IFDIR));
  if (parts_ == Parts::kShared) return {};
  TRY(const OwnedFd mount, AttachProc(tree_.get(), proc));
  return Own(mount.get());
}

// Returns the file or directory to mount on. It is the one that was noted, or one that was made here.
Result<OwnedFd> TreeBuilder::Target(const std::string& path, uint32_t type) {
  TRY_VOID(MakeMissing(path, type));
  const int file = TryLook(tree_.get(), path);
  if (file < 0 && IsGone(-file)) return ReplacedMeanwhile(path);
  if (file < 0) return FailErrno("open", path, -file);
  OwnedFd target(file);
  TRY(const sys::FileIdentity identity, sys::IdentityOf(file, path));
  const auto noted = noted_.find(path);
  const bool is_noted = noted != noted_.end() && noted->second == identity;
  if (!is_noted && !IsOwn(file)) return ReplacedMeanwhile(path);
  return target;
}

// Makes a mount point, and the directories above it, where they are missing in a file system of the sandbox's own. The
// path leads to nothing then that another process could replace.
Result<> TreeBuilder::MakeMissing(const std::string& path, uint32_t type) {
  const int file = TryLook(tree_.get(), path);
  if (file >= 0) return OwnedFd(file), Result<>();
  if (file != -ENOENT) return {};  // the next look at the path fails, and tells why
  TRY_VOID(MakeMissing(std::string(ParentOf(path)), S_IFDIR));
  TRY(const OwnedFd parent, ParentInOwnTree(path));
  const std::string name(NameOf(path));
  const bool is_directory = type == S_IFDIR;
  const int made = is_directory ? ::mkdirat(parent.get(), name.c_str(), 0755)
                                : ::mknodat(parent.get(), name.c_str(), S_IFREG | 0444, 0);
  if (made < 0) return FailErrno("make mount point", path);
  if (is_directory && ::fchmodat(parent.get(), name.c_str(), 0755, 0) < 0) return FailErrno("chmod", path);
  return {};
}

Result<OwnedFd> TreeBuilder::ParentInOwnTree(const std::string& path) {
  const std::string directory(ParentOf(path));
  const int file = TryLook(tree_.get(), directory);
  if (file < 0 && IsGone(-file)) return ReplacedMeanwhile(path);
  if (file < 0) return FailErrno("open", directory, -file);
  OwnedFd parent(file);
  if (!IsOwn(file)) return ReplacedMeanwhile(path);
  return parent;
}

Result<> TreeBuilder::Own(int mount) {
  const auto id = MountId(mount);
  if (!id) return FailErrno("statx", "mount");
  own_mounts_.insert(*id);
  return {};
}

bool TreeBuilder::IsOwn(int fd) const {
  const auto id = MountId(fd);
  return id && own_mounts_.contains(*id);
}

bool TreeBuilder::IsPlaceholder(const std::string& path) const {
  return std::ranges::find(plan_.placeholders, path, &Placeholder::path) != plan_.placeholders.end();
}

// Returns whether later steps put something into the empty directory.
bool TreeBuilder::HoldsMore(const std::string& path) const {
  return std::ranges::any_of(plan_.mounts, [&](const Mount& mount) {
    const std::string* const other = PathOf(mount);
    return other != nullptr && IsBelow(*other, path);
  });
}

}  // namespace holdfast::sandbox
