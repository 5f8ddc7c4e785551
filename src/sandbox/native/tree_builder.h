// TreeBuilder carries out the steps of one plan, one after the other, in the tree that becomes the root of the sandbox.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "base/owned_fd.h"
#include "base/result.h"
#include "sandbox/native/covers.h"
#include "sandbox/native/private_dev.h"
#include "sandbox/plan/mount_check.h"
#include "sandbox/plan/plan.h"

namespace holdfast::sandbox {

// The failure of a mount whose path does not lead to the file that it led to when the plan was made.
std::unexpected<Error> ReplacedMeanwhile(const std::string& path);

// kAll makes everything; kShared leaves out what each command has for itself.
enum class Parts { kAll, kShared };

class TreeBuilder {
 public:
  TreeBuilder(const NamespacePlan& plan, std::span<const MountCheck> noted, Parts parts);

  Result<> Build(int terminal);

 private:
  Result<> TakeSources(int terminal);
  Result<OwnedFd> TakeSource(const std::string& path);
  Result<> OpenTree();
  Result<> Finish();
  Result<> Enter();

  Result<> Step(const ReadOnlyBind& bind);
  Result<> Step(const WritableBind& bind);
  Result<> Step(const PinnedBind& bind);
  Result<> Step(const PinnedLink& link);
  Result<> Step(const HeldDirectory& held);
  Result<> Step(const EmptyRoot&) { return {}; }
  Result<> Step(const EmptyDirectory& empty);
  Result<> Step(const EmptyFile& empty);
  Result<> Step(const MakeDirectory& make);
  Result<> Step(const Symlink& link);
  Result<> Step(const Seal& seal);
  Result<> Step(const PrivateDev&);
  Result<> Step(const FreshProc& proc);

  Result<> HoldDirectories();
  Result<> Bind(const std::string& path, uint64_t attributes);
  Result<OwnedFd> Target(const std::string& path, uint32_t type);
  Result<> MakeMissing(const std::string& path, uint32_t type);
  Result<OwnedFd> ParentInOwnTree(const std::string& path);
  Result<> Own(int mount);
  bool IsOwn(int fd) const;
  bool IsPlaceholder(const std::string& path) const;
  bool HoldsMore(const std::string& path) const;

  const NamespacePlan& plan_;
  const Parts parts_;
  const bool has_empty_root_;
  std::unordered_map<std::string_view, sys::FileIdentity> noted_;
  std::unordered_map<std::string_view, OwnedFd> sources_;  // copies of what is outside, by path
  std::optional<DeviceNodes> nodes_;
  OwnedFd host_terminals_;  // only of a template
  OwnedFd outside_;         // the root directory as it was
  OwnedFd tree_;            // the root directory of the sandbox
  OwnedFd dev_;
  std::optional<Covers> covers_;
  std::unordered_map<std::string, OwnedFd> directories_;  // empty directories that are not sealed yet
  std::unordered_set<uint64_t> own_mounts_;               // the ids of file systems that no other process can reach
};

// Mounts the /proc of this pid namespace in the tree below `root`, and returns its mount.
Result<OwnedFd> AttachProc(int root, const FreshProc& proc);

}  // namespace holdfast::sandbox
