#include "sandbox/plan/mount_check.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <optional>
#include <unordered_set>
#include <utility>
#include <variant>

#include <fmt/format.h>

namespace holdfast::sandbox {
namespace {

using Kind = MountCheck::Kind;

// Returns the path and the kind of a mount that has to be checked, because another process could change its name. The
// root has no name, and the contents of an empty root or directory are made by bubblewrap alone.
struct WhatToCheck {
  using Answer = std::optional<std::pair<std::string, Kind>>;

  Answer operator()(const ReadOnlyBind& bind) const { return std::pair(bind.path, Kind::kReadOnly); }
  Answer operator()(const WritableBind& bind) const { return std::pair(bind.path, Kind::kWritable); }
  Answer operator()(const PinnedBind& bind) const { return std::pair(bind.path, Kind::kWritable); }
  Answer operator()(const PinnedLink& link) const { return std::pair(link.path, Kind::kLink); }
  Answer operator()(const HeldDirectory& held) const { return std::pair(held.path, Kind::kHeld); }
  Answer operator()(const EmptyDirectory& empty) const { return std::pair(empty.path, Kind::kCover); }
  Answer operator()(const EmptyFile& empty) const { return std::pair(empty.path, Kind::kCover); }
  Answer operator()(const auto&) const { return std::nullopt; }
};

std::unexpected<Error> Changed(const std::string& path) {
  return Fail(ErrorKind::kNotFound, fmt::format("mount {}: it has been replaced in the meantime", path));
}

// Returns the id of the mount whose root `fd` is, or nothing when it is not a mount point.
std::optional<uint64_t> MountAt(int fd) {
  struct statx status;
  if (::statx(fd, "", AT_EMPTY_PATH, STATX_MNT_ID, &status) < 0) return std::nullopt;
  const bool is_root = (status.stx_attributes & STATX_ATTR_MOUNT_ROOT) != 0;
  if (!is_root || (status.stx_mask & STATX_MNT_ID) == 0) return std::nullopt;
  return status.stx_mnt_id;
}

bool IsReadOnly(int fd) {
  struct statvfs status;
  return ::fstatvfs(fd, &status) == 0 && (status.f_flag & ST_RDONLY) != 0;
}

Result<OwnedFd> OpenFor(Kind kind, const std::string& path) {
  return kind == Kind::kLink ? sys::OpenLink(path) : sys::OpenWithoutLinks(path);
}

Result<> CheckMount(const MountCheck& check, std::unordered_set<uint64_t>& seen) {
  TRY(const OwnedFd fd, OpenFor(check.kind, check.path));
  TRY(const sys::FileIdentity inside, sys::IdentityOf(fd.get(), check.path));
  const bool is_itself = inside == check.outside;
  if (check.kind == Kind::kHeld) return is_itself ? Result<>() : Changed(check.path);
  const auto mount = MountAt(fd.get());
  if (is_itself == (check.kind == Kind::kCover) || !mount || !seen.insert(*mount).second) return Changed(check.path);
  const bool is_open = check.kind == Kind::kWritable || check.kind == Kind::kLink;
  if (!is_open && !IsReadOnly(fd.get())) return Changed(check.path);
  return {};
}

}  // namespace

Result<std::vector<MountCheck>> NoteMounts(const NamespacePlan& plan, PlaceholderState placeholders) {
  std::vector<MountCheck> checks;
  const auto is_missing = [&](const std::string& path) {
    return placeholders == PlaceholderState::kMissing &&
           std::ranges::find(plan.placeholders, path, &Placeholder::path) != plan.placeholders.end();
  };
  for (const Mount& mount : plan.mounts) {
    auto what = std::visit(WhatToCheck(), mount);
    if (!what || what->first == "/" || is_missing(what->first)) continue;
    TRY(const OwnedFd fd, OpenFor(what->second, what->first));
    TRY(const sys::FileIdentity outside, sys::IdentityOf(fd.get(), what->first));
    checks.push_back({.path = std::move(what->first), .kind = what->second, .outside = outside});
  }
  return checks;
}

void NoteIdentities(std::span<const MountCheck> checks, std::vector<LandlockRule>& rules) {
  for (LandlockRule& rule : rules) {
    const auto check = std::ranges::find(checks, rule.path, &MountCheck::path);
    if (check != checks.end() && check->kind != Kind::kCover) rule.identity = check->outside;
  }
}

Result<> CheckMounts(std::span<const MountCheck> checks) {
  std::unordered_set<uint64_t> seen;
  for (const MountCheck& check : checks) {
    if (check.kind != Kind::kLink) TRY_VOID(CheckMount(check, seen));
  }
  return {};
}

Result<> CheckLinks(std::span<const MountCheck> checks) {
  std::unordered_set<uint64_t> seen;
  for (const MountCheck& check : checks) {
    if (check.kind == Kind::kLink) TRY_VOID(CheckMount(check, seen));
  }
  return {};
}

}  // namespace holdfast::sandbox
