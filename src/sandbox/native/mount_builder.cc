#include "sandbox/native/mount_builder.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>
#include <variant>

#include "base/owned_fd.h"
#include "base/paths.h"
#include "sandbox/native/covers.h"
#include "sandbox/native/mount_calls.h"
#include "sandbox/native/private_dev.h"
#include "sandbox/native/tree_builder.h"
#include "sys/file_identity.h"

namespace holdfast::sandbox {
namespace {

Result<OwnedFd> OpenRoot() {
  OwnedFd root(::open("/", O_PATH | O_DIRECTORY | O_CLOEXEC));
  if (!root.is_open()) return FailErrno("open", "/");
  return root;
}

// The /dev of the template is shared, and has no /dev/console. A command with a terminal gets a /dev of its own on top.
Result<> BuildOwnDev(int root, int terminal) {
  TRY(OwnedFd dev, Look(root, "/dev"));
  if (terminal >= 0) {
    TRY(const DeviceNodes nodes, DeviceNodes::Take(root, terminal));
    TRY(OwnedFd own, AttachDev(dev.get(), nodes));
    dev = std::move(own);
  }
  TRY_VOID(AttachSharedMemory(dev.get()));
  TRY_VOID(AttachTerminals(dev.get()));
  return terminal >= 0 ? SealDev(dev.get()) : Result<>();
}

const Mount& CoverOf(const NamespacePlan& plan, const std::string& path) {
  return *std::ranges::find_if(plan.mounts, [&](const Mount& mount) {
    const auto* const directory = std::get_if<EmptyDirectory>(&mount);
    const auto* const file = std::get_if<EmptyFile>(&mount);
    return (directory != nullptr && directory->path == path) || (file != nullptr && file->path == path);
  });
}

uint32_t ModeOf(const Mount& cover) {
  const auto* const directory = std::get_if<EmptyDirectory>(&cover);
  return directory != nullptr ? directory->mode : std::get<EmptyFile>(cover).mode;
}

Result<> CoverOne(Covers& covers, int target, uint32_t mode, const std::string& path) {
  struct stat status;
  if (::fstat(target, &status) < 0) return FailErrno("fstat", path);
  const bool is_directory = S_ISDIR(status.st_mode);
  TRY(const OwnedFd cover, is_directory ? covers.Directory(mode) : covers.File(mode));
  return Attach(cover.get(), target, path);
}

}  // namespace

Result<> MountBuilder::BuildAll(int terminal) const { return TreeBuilder(plan_, noted_, Parts::kAll).Build(terminal); }

Result<> MountBuilder::BuildTemplate() const { return TreeBuilder(plan_, noted_, Parts::kShared).Build(-1); }

Result<> MountBuilder::BuildOwn(int terminal) const {
  TRY(const OwnedFd root, OpenRoot());
  for (const Mount& mount : plan_.mounts) {
    if (std::holds_alternative<PrivateDev>(mount)) TRY_VOID(BuildOwnDev(root.get(), terminal));
    if (const auto* const proc = std::get_if<FreshProc>(&mount)) TRY_VOID(AttachProc(root.get(), *proc));
  }
  return {};
}

Result<> MountBuilder::Cover(std::span<const UsedPlaceholder> used) const {
  if (plan_.placeholders.empty()) return {};
  TRY(const OwnedFd root, OpenRoot());
  Covers covers(root.get());
  for (uint32_t index = 0; index < plan_.placeholders.size(); ++index) {
    const std::string& path = plan_.placeholders[index].path;
    const uint32_t mode = ModeOf(CoverOf(plan_, path));
    const auto made = std::ranges::find(used, index, &UsedPlaceholder::index);
    if (made != used.end()) {
      TRY_VOID(CheckDirectory(made->parent.get(), path));
      TRY_VOID(CoverOne(covers, made->itself.get(), mode, path));
      continue;
    }
    TRY(const OwnedFd parent, Look(root.get(), std::string(ParentOf(path))));
    TRY_VOID(CheckDirectory(parent.get(), path));
    TRY(const OwnedFd target, Look(parent.get(), std::string(NameOf(path))));
    TRY_VOID(CoverOne(covers, target.get(), mode, path));
  }
  TRY_VOID(covers.Finish());
  if (::chdir("/") < 0) return FailErrno("chdir", "/");
  return {};
}

// A placeholder is made by name, after the mounts. By then the name of its directory can lead to another one, and the
// directory that the plan means would have no cover. Every such directory has a mount, and was noted.
Result<> MountBuilder::CheckDirectory(int directory, const std::string& placeholder) const {
  const std::string_view path = ParentOf(placeholder);
  if (path == "/") return {};
  TRY(const sys::FileIdentity identity, sys::IdentityOf(directory, placeholder));
  const auto noted = std::ranges::find(noted_, path, &MountCheck::path);
  if (noted == noted_.end() || noted->outside != identity) return ReplacedMeanwhile(placeholder);
  return {};
}

}  // namespace holdfast::sandbox
