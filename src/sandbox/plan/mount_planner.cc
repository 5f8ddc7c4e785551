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
// The modes of what is mounted over a missing name that may be read.
constexpr uint32_t kCoverDirectoryMode = 0555;
constexpr uint32_t kCoverFileMode = 0444;

Mount Mask(const std::string& path, PathWalk::End end) {
  if (end == PathWalk::End::kDirectory) return EmptyDirectory{.path = path, .mode = 0};
  return EmptyFile{.path = path, .mode = 0};
}

// Whether this user, and so the command, can ever make something in there: an owner can change the mode first.
bool CanBeMadeIn(const std::string& directory) {
  if (::faccessat(AT_FDCWD, directory.c_str(), W_OK | X_OK, AT_EACCESS) == 0) return true;
  struct stat status;
  return errno != EROFS && (::stat(directory.c_str(), &status) < 0 || status.st_uid == ::geteuid());
}

}  // namespace

Result<> MountPlanner::LayAll() {
  for (const auto& [path, placed] : rules_.rules()) TRY_VOID(Lay(path, placed));
  for (const CrossedLink& link : rules_.hidden_links()) {
    steps_.insert_or_assign(link.path, Symlink{.path = link.path, .target = link.target});
    OpenWayTo(link.path);
  }
  return {};
}

Result<> MountPlanner::Lay(const std::string& path, const PlacedRule& placed) {
  if (path == "/") return {};
  if (placed.walk.exists()) {
    LayExisting(path, placed);
    return {};
  }
  const std::string& reached = placed.walk.reached;
  // A missing place that may be written has nothing to bind; any other is safe where nothing can be created.
  if (placed.rule.access == Access::kWrite || rules_.GroundAround(reached) != Ground::kWritable) return {};
  switch (placed.walk.end) {
    case PathWalk::End::kMissing:
      KeepMissing(placed);
      break;
    case PathWalk::End::kUnderFile:
      // As long as the file stays a file there is nothing below it.
      if (steps_.try_emplace(reached, Busy{.path = reached}).second) HoldAncestors(reached);
      break;
    case PathWalk::End::kUnsearchable:
      return FailErrno("lstat", reached, EACCES);
    case PathWalk::End::kNowhere:
    case PathWalk::End::kDirectory:
    case PathWalk::End::kFile:
      break;
  }
  return {};
}

void MountPlanner::LayExisting(const std::string& path, const PlacedRule& placed) {
  const Ground ground = rules_.GroundAround(path);
  switch (placed.rule.access) {
    case Access::kRead:
      if (ground == Ground::kReadOnly) return;
      steps_.insert_or_assign(path, ReadOnlyBind{.path = path});
      break;
    case Access::kWrite:
      steps_.insert_or_assign(path, WritableBind{.path = path});
      break;
    case Access::kDeny:
      if (ground == Ground::kHidden) return;
      steps_.insert_or_assign(path, Mask(path, placed.walk.end));
      break;
  }
  if (ground == Ground::kWritable) HoldAncestors(path);
  if (ground == Ground::kHidden) OpenWayTo(path);
}

// What is not there is kept from coming to exist by something at the first name that is missing.
void MountPlanner::KeepMissing(const PlacedRule& placed) {
  const std::string& path = placed.walk.reached;
  if (!CanBeMadeIn(std::string(ParentOf(path)))) return;
  if (missing_names_ == MissingNames::kRefused) {
    if (std::ranges::find(absent_, path) == absent_.end()) absent_.push_back(path);
    return HoldAncestors(path);
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
  HoldAncestors(path);
}

// A mount point cannot be renamed, but the directories above it can, and it with them.
void MountPlanner::HoldAncestors(std::string_view path) {
  for (path = ParentOf(path); path != "/"; path = ParentOf(path)) {
    if (!steps_.try_emplace(std::string(path), Busy{.path = std::string(path)}).second) return;
  }
}

// Down from an EmptyDirectory; an EmptyRoot needs nothing.
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
    // Moved from, it still says what it is.
    if (std::holds_alternative<EmptyDirectory>(step)) mounts.emplace_back(Seal{.path = path});
  }
  steps_.clear();
  return mounts;
}

}  // namespace holdfast::sandbox
