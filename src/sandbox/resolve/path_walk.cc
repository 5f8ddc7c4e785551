#include "sandbox/resolve/path_walk.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <cerrno>
#include <climits>
#include <optional>
#include <utility>

#include "base/paths.h"
#include "sandbox/resolve/protected_names.h"
#include "sys/placeholder.h"
#include "sys/read_link.h"

namespace holdfast::sandbox {
namespace {

constexpr size_t kMaxLinks = 40;  // the kernel's own limit

// The components that the walk has not reached, the next one last.
using Pending = std::vector<std::string>;

void PushComponents(Pending& pending, std::string_view path) {
  const std::vector<std::string_view> names = NamesIn(path);
  pending.insert(pending.end(), names.rbegin(), names.rend());
}

std::string Join(std::string_view directory, std::string_view name) {
  std::string path(directory == "/" ? "" : directory);
  return path.append("/").append(name);
}

std::string WithPending(std::string path, const Pending& pending) {
  for (auto name = pending.rbegin(); name != pending.rend(); ++name) {
    path = *name == ".." ? std::string(ParentOf(path)) : Join(path, *name);
  }
  return path;
}

// Returns whether a sandbox has put a placeholder there. A file or directory of the other kind than a plan would make
// for this name belongs to the user, even if it looks like a placeholder.
bool IsForeignPlaceholder(const std::string& path, mode_t mode) {
  const bool kind_fits = S_ISDIR(mode) == (PlaceholderKindFor(path) == PlaceholderKind::kDirectory);
  if (!kind_fits || !sys::HasPlaceholderMode(mode)) return false;
  if (sys::IsPlaceholderOfMode(mode, AT_FDCWD, path, sys::Links::kFollowToLast)) return true;
  struct stat status;  // the other sandbox may have removed the placeholder since the caller has looked at it
  return ::lstat(path.c_str(), &status) < 0 && errno == ENOENT;
}

}  // namespace

// The text of a link in /proc is not read, because no walk follows it, and the kernel may refuse it.
PathWalker::Sight PathWalker::Look(const std::string& path) {
  using enum Sight::Kind;
  struct stat status;
  if (::lstat(path.c_str(), &status) < 0) {
    if (errno == ENOENT) return {.kind = kMissing};
    if (errno == EACCES) return {.kind = kUnsearchable};
    if (errno == ENAMETOOLONG && NameOf(path).size() > NAME_MAX) return {.kind = kImpossible};
    return {.kind = kFailed, .failure = ErrnoError("lstat", path, errno)};
  }
  if (S_ISLNK(status.st_mode)) {
    if (IsBelow(path, "/proc")) return {.kind = kLink};
    auto text = sys::ReadLink(path);
    if (!text) return {.kind = kFailed, .failure = std::move(text).error()};
    return {.kind = kLink, .link_text = *std::move(text)};
  }
  if (IsForeignPlaceholder(path, status.st_mode)) return {.kind = kMissing};
  return {.kind = S_ISDIR(status.st_mode) ? kDirectory : kFile};
}

const PathWalker::Sight& PathWalker::LookAt(const std::string& path) {
  if (const auto known = seen_.find(path); known != seen_.end()) return known->second;
  return seen_.emplace(path, Look(path)).first->second;
}

// Returns how the walk ends at this file. Absent when the walk continues.
std::optional<PathWalk::End> PathWalker::EndAt(const Sight& sight, const std::vector<std::string>& pending) {
  switch (sight.kind) {
    case Sight::Kind::kMissing:
      return PathWalk::End::kMissing;
    case Sight::Kind::kUnsearchable:
      return PathWalk::End::kUnsearchable;
    case Sight::Kind::kImpossible:
      return PathWalk::End::kNowhere;
    case Sight::Kind::kFile:
      return pending.empty() ? PathWalk::End::kFile : PathWalk::End::kUnderFile;
    case Sight::Kind::kFailed:
      return PathWalk::End::kFailed;
    case Sight::Kind::kLink:  // Follow follows all links but those in /proc and those beyond the limit
      return PathWalk::End::kNowhere;
    case Sight::Kind::kDirectory:
      break;
  }
  return std::nullopt;
}

Result<PathWalk> PathWalker::Walk(std::string_view path) {
  PathWalk walk = Follow(path);
  if (walk.end == PathWalk::End::kFailed) return std::unexpected(LookAt(walk.reached).failure);
  return walk;
}

PathWalk PathWalker::Follow(std::string_view path) {
  PathWalk walk{.path = {}, .reached = "/", .end = PathWalk::End::kDirectory, .links = {}, .left = {}};
  Pending pending;
  PushComponents(pending, path);
  bool goes_on = true;
  while (goes_on && !pending.empty()) {
    const std::string name = std::move(pending.back());
    pending.pop_back();
    if (name == "..") {
      if (walk.reached != "/") walk.left.push_back(walk.reached);
      walk.reached = ParentOf(walk.reached);
      continue;
    }
    std::string next = Join(walk.reached, name);
    const Sight& sight = LookAt(next);
    if (sight.kind == Sight::Kind::kLink && walk.links.size() < kMaxLinks && !IsBelow(next, "/proc")) {
      if (sight.link_text.starts_with('/')) walk.reached = "/";
      PushComponents(pending, sight.link_text);
      walk.links.push_back({.path = std::move(next), .target = sight.link_text});
      continue;
    }
    walk.reached = std::move(next);
    const auto end = EndAt(sight, pending);
    walk.end = end.value_or(PathWalk::End::kDirectory);
    goes_on = !end;
  }
  walk.path = WithPending(walk.reached, pending);
  return walk;
}

}  // namespace holdfast::sandbox
