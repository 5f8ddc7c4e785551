#include "sandbox/plan/mount_planner.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <ranges>
#include <utility>
#include <variant>

#include "base/paths.h"
#include "sandbox/plan/plan_options.h"
#include "sandbox/resolve/protected_names.h"

namespace holdfast::sandbox {
namespace {

constexpr uint32_t kSearchable = 0111;
// The modes of the empty directory or file over a missing path that may be read.
constexpr uint32_t kCoverDirectoryMode = 0555;
constexpr uint32_t kCoverFileMode = 0444;

Mount Mask(const std::string& path, PathWalk::End end) {
  if (end == PathWalk::End::kDirectory) return EmptyDirectory{.path = path, .mode = 0};
  return EmptyFile{.path = path, .mode = 0};
}

// Returns whether this user, and so the command, could create a file in the directory. The owner can change its mode
// first, so only the mode of a directory of another user counts.
bool CanBeMadeIn(const std::string& directory) {
  if (::faccessat(AT_FDCWD, directory.c_str(), W_OK | X_OK, AT_EACCESS) == 0) return true;
  struct stat status;
  return errno != EROFS && (::stat(directory.c_str(), &status) < 0 || status.st_uid == ::geteuid());
}

}  // namespace

Result<> MountPlanner::PlanAll() {
  for (const auto& [path, placed] : rules_.rules()) TRY_VOID(PlanRule(path, placed));
  for (const CrossedLink& link : rules_.hidden_links()) {
    steps_.insert_or_assign(link.path, Symlink{.path = link.path, .target = link.target});
    OpenWayTo(link.path);
  }
  for (const std::string& path : rules_.pinned_links()) {
    if (steps_.try_emplace(path, PinnedLink{.path = path}).second) PinAncestors(path);
  }
  for (const std::string& path : rules_.pinned_directories()) {
    if (steps_.try_emplace(path, Pin(path)).second) PinAncestors(path);
  }
  return {};
}

Result<> MountPlanner::PlanRule(const std::string& path, const PlacedRule& placed) {
  if (path == "/") return {};
  if (placed.walk.exists()) {
    PlanExisting(path, placed);
    return {};
  }
  const std::string& reached = placed.walk.reached;
  // A missing path that may be written needs no mount, because there is nothing to bind. Any other missing path needs
  // none where the command cannot create it.
  if (placed.rule.access == Access::kWrite || rules_.ExposureAround(reached) != Exposure::kWritable) return {};
  switch (placed.walk.end) {
    case PathWalk::End::kMissing:
      KeepMissing(placed);
      break;
    case PathWalk::End::kUnderFile:
      // The file is pinned: as long as it stays a file, no path below it can exist.
      if (steps_.try_emplace(reached, PinnedBind{.path = reached}).second) PinAncestors(reached);
      break;
    case PathWalk::End::kUnsearchable:
      return FailErrno("lstat", reached, EACCES);
    case PathWalk::End::kNowhere:
    case PathWalk::End::kFailed:
    case PathWalk::End::kDirectory:
    case PathWalk::End::kFile:
      break;
  }
  return {};
}

void MountPlanner::PlanExisting(const std::string& path, const PlacedRule& placed) {
  const Exposure exposure = rules_.ExposureAround(path);
  switch (placed.rule.access) {
    case Access::kRead:
      if (exposure == Exposure::kReadOnly) return;
      steps_.insert_or_assign(path, ReadOnlyBind{.path = path});
      break;
    case Access::kWrite:
      steps_.insert_or_assign(path, WritableBind{.path = path});
      break;
    case Access::kDeny:
      if (exposure == Exposure::kHidden) return;
      steps_.insert_or_assign(path, Mask(path, placed.walk.end));
      break;
  }
  if (exposure == Exposure::kWritable) PinAncestors(path);
  if (exposure == Exposure::kHidden) OpenWayTo(path);
}

// Keeps a missing path from being created. A cover, or the caller's refusal, at the first component that is missing is
// enough.
void MountPlanner::KeepMissing(const PlacedRule& placed) {
  const std::string& path = placed.walk.reached;
  if (!CanBeMadeIn(std::string(ParentOf(path)))) return;
  if (missing_names_ == MissingNames::kRefused) {
    if (std::ranges::find(absent_, path) == absent_.end()) absent_.push_back(path);
    return PinAncestors(path);
  }
  const bool is_denied = placed.rule.access == Access::kDeny;
  const PlaceholderKind kind = PlaceholderKindFor(path);
  Mount cover = kind == PlaceholderKind::kDirectory
                    ? Mount(EmptyDirectory{.path = path, .mode = is_denied ? 0 : kCoverDirectoryMode})
                    : Mount(EmptyFile{.path = path, .mode = is_denied ? 0 : kCoverFileMode});
  const auto [step, is_first] = steps_.try_emplace(path, cover);
  if (is_denied) step->second = std::move(cover);
  if (!is_first) return;
  placeholders_.push_back({.path = path, .kind = kind});
  PinAncestors(path);
}

// Pins all directories above a mount point. The mount point itself cannot be renamed, but a directory above it could
// be, and the mount point would move with it. The rule would then not find the file for the next command, and a missing
// name could be made at the old path. This holds also for a file that a pattern finds wherever it is: while the files
// for the next command are searched for, this command could move the directory from a place that was not yet searched
// to one that was, and the search would miss the file.
void MountPlanner::PinAncestors(std::string_view path) {
  for (path = ParentOf(path); path != "/"; path = ParentOf(path)) {
    if (!steps_.try_emplace(std::string(path), Pin(std::string(path))).second) return;
  }
}

// A caller that refuses missing names itself looks for the mounts at their paths, to see whether they are in place.
Mount MountPlanner::Pin(std::string directory) const {
  const bool is_held = mounts_by_ == MountsBy::kDescriptor && missing_names_ == MissingNames::kCovered;
  return is_held ? Mount(HeldDirectory{.path = std::move(directory)}) : Mount(PinnedBind{.path = std::move(directory)});
}

// Makes the directories from the nearest EmptyDirectory down to `path`. In an EmptyRoot the backend makes them itself.
void MountPlanner::OpenWayTo(std::string_view path) {
  std::vector<std::string> between;
  for (path = ParentOf(path); !steps_.contains(path); path = ParentOf(path)) {
    if (path == "/") return;
    between.emplace_back(path);
  }
  if (auto* top = std::get_if<EmptyDirectory>(&steps_.find(path)->second)) top->mode = kSearchable;
  for (std::string& directory : between) {
    const MakeDirectory step{.path = directory};
    steps_.emplace(std::move(directory), step);
  }
}

std::vector<Mount> MountPlanner::TakeMounts() {
  std::vector<Mount> mounts;
  for (Mount& step : std::views::values(steps_)) mounts.push_back(std::move(step));
  for (const auto& [path, step] : std::views::reverse(steps_)) {
    // The loop above has moved the path out of the step, but the type of the step remains.
    if (std::holds_alternative<EmptyDirectory>(step)) mounts.emplace_back(Seal{.path = path});
  }
  steps_.clear();
  return mounts;
}

}  // namespace holdfast::sandbox
