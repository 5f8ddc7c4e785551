#include "apply_patch/planned_tree.h"

#include <sys/stat.h>

#include <cerrno>
#include <deque>

#include "base/paths.h"
#include "sys/read_link.h"

namespace holdfast::apply_patch {
namespace {

constexpr int kMostLinks = 40;  // the kernel follows as many

std::string Join(const std::string& directory, std::string_view name) {
  if (directory == ".") return std::string(name);
  return (directory == "/" ? "/" : directory + "/") + std::string(name);
}

}  // namespace

std::string NormalPath(std::string_view path) {
  const bool is_absolute = path.starts_with('/');
  std::vector<std::string_view> kept;
  for (const std::string_view name : NamesIn(path)) {
    if (name != ".." || (!is_absolute && (kept.empty() || kept.back() == ".."))) {
      kept.push_back(name);
    } else if (!kept.empty()) {
      kept.pop_back();
    }
  }
  std::string normal = is_absolute ? "/" : ".";
  for (const std::string_view name : kept) normal = Join(normal, name);
  return normal;
}

// The state of a search along a path. `length` is the length of the path up to the end of a name, or 0 for a name that
// comes from the target of a link.
struct PlannedTree::Walk {
  struct Name {
    std::string text;
    size_t length;
  };

  const std::string& path;
  size_t directory = 0;
  std::deque<Name> names = {};
  int links = 0;

  void PushPath() {
    for (const std::string_view name : NamesIn(path)) {
      names.push_back({std::string(name), static_cast<size_t>(name.data() + name.size() - path.data())});
    }
  }
  void PushTarget(std::string_view target) {
    const auto targets = NamesIn(target);
    for (auto name = targets.rbegin(); name != targets.rend(); ++name) names.push_front({std::string(*name), 0});
  }
};

size_t PlannedTree::DirectoryOf(const struct stat& status, std::string path) {
  const auto [place, is_fresh] = directories_on_disk_.try_emplace(sys::FileIdentity::Of(status), directories_.size());
  if (is_fresh) directories_.push_back({std::move(path)});
  return place->second;
}

Result<size_t> PlannedTree::DirectoryOnDisk(const std::string& path) {
  struct stat status;
  if (::stat(path.c_str(), &status) < 0) return FailErrno("stat", path);
  return DirectoryOf(status, path);
}

size_t PlannedTree::FileOf(const struct stat& status) {
  const auto [place, is_fresh] = files_on_disk_.try_emplace(sys::FileIdentity::Of(status), files_.size());
  if (is_fresh) files_.push_back({.on_disk = sys::FileIdentity::Of(status), .permissions = status.st_mode & 0777});
  return place->second;
}

Result<size_t> PlannedTree::ParentOf(size_t directory) {
  const auto& [path, planned_in] = directories_[directory];
  return planned_in ? *planned_in : DirectoryOnDisk(Join(path, ".."));
}

Result<Entry> PlannedTree::Look(size_t directory, const std::string& name) {
  if (const auto change = changes_.find({directory, name}); change != changes_.end()) return change->second;
  if (directories_[directory].planned_in) return Entry{};
  const std::string path = Join(directories_[directory].path, name);
  struct stat status;
  if (::lstat(path.c_str(), &status) < 0) {
    if (errno == ENOENT) return Entry{};
    return FailErrno("lstat", path);
  }
  if (S_ISREG(status.st_mode)) return Entry{EntryKind::kFile, FileOf(status)};
  if (S_ISDIR(status.st_mode)) return Entry{EntryKind::kDirectory, DirectoryOf(status, path)};
  if (!S_ISLNK(status.st_mode)) return Entry{EntryKind::kOther};
  TRY(std::string target, sys::ReadLink(path));
  return Entry{EntryKind::kLink, 0, std::move(target)};
}

// Lets the walk continue in a directory, or with the target of a link.
Result<> PlannedTree::Enter(Walk& walk, const Entry& entry) {
  if (entry.kind == EntryKind::kDirectory) {
    walk.directory = entry.index;
    return {};
  }
  if (entry.kind == EntryKind::kMissing) return FailErrno("open", walk.path, ENOENT);
  if (entry.kind != EntryKind::kLink) return FailErrno("open", walk.path, ENOTDIR);
  if (++walk.links > kMostLinks) return FailErrno("open", walk.path, ELOOP);
  if (entry.target.starts_with('/')) {
    TRY(walk.directory, DirectoryOnDisk("/"));
  }
  walk.PushTarget(entry.target);
  return {};
}

Result<Spot> PlannedTree::Find(const std::string& path, LastLink last_link) {
  Walk walk{.path = path};
  TRY(walk.directory, DirectoryOnDisk(path.starts_with('/') ? "/" : "."));
  walk.PushPath();
  while (!walk.names.empty()) {
    const auto [name, length] = std::move(walk.names.front());
    walk.names.pop_front();
    if (name == "..") {
      TRY(walk.directory, ParentOf(walk.directory));
      continue;
    }
    TRY(Entry entry, Look(walk.directory, name));
    const bool is_last = walk.names.empty();
    if (is_last && (entry.kind != EntryKind::kLink || last_link == LastLink::kKeep)) {
      return Spot{walk.directory, name, Join(directories_[walk.directory].path, name), std::move(entry)};
    }
    // Missing directories are made only if the path itself names them, and not if the target of a link does.
    if (entry.kind == EntryKind::kMissing && length > 0) {
      Spot spot{.directory = walk.directory, .name = name};
      spot.missing_parents.push_back(path.substr(0, length));
      for (size_t i = 0; i + 1 < walk.names.size(); ++i) {
        spot.missing_parents.push_back(path.substr(0, walk.names[i].length));
      }
      return spot;
    }
    TRY_VOID(Enter(walk, entry));
  }
  return Spot{.directory = walk.directory, .place = path, .entry = {EntryKind::kDirectory, walk.directory}};
}

Spot PlannedTree::MakeParents(const Spot& spot, const std::string& path) {
  size_t directory = spot.directory;
  for (const std::string& parent : spot.missing_parents) {
    const std::string name(NameOf(parent));
    const Entry made{EntryKind::kDirectory, directories_.size()};
    directories_.push_back({Join(directories_[directory].path, name), directory});
    changes_[{directory, name}] = made;
    directory = made.index;
  }
  const std::string name(NameOf(path));
  return {.directory = directory, .name = name, .place = Join(directories_[directory].path, name)};
}

size_t PlannedTree::MakeFile(const Spot& spot, std::optional<mode_t> permissions) {
  files_.push_back({.permissions = permissions});
  changes_[{spot.directory, spot.name}] = {EntryKind::kFile, files_.size() - 1};
  return files_.size() - 1;
}

void PlannedTree::Remove(const Spot& spot) { changes_[{spot.directory, spot.name}] = {}; }

}  // namespace holdfast::apply_patch
