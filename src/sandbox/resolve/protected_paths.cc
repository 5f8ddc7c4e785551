#include "sandbox/resolve/protected_paths.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <optional>
#include <string_view>
#include <unordered_set>

#include "base/paths.h"
#include "sandbox/resolve/git_pointer.h"
#include "sandbox/resolve/path_walk.h"
#include "sandbox/resolve/protected_names.h"

namespace holdfast::sandbox {
namespace {

// Returns whether a process without capabilities has the rights `wanted` (X_OK, W_OK) to a directory. The command has
// no capabilities even when it runs as root, while faccessat would count those of this process; so for root the mode
// bits decide.
bool Permits(const std::string& directory, unsigned wanted) {
  if (::geteuid() != 0) return ::faccessat(AT_FDCWD, directory.c_str(), static_cast<int>(wanted), AT_EACCESS) == 0;
  struct stat status;
  if (::stat(directory.c_str(), &status) < 0) return false;
  const unsigned shift = status.st_uid == 0 ? 6 : status.st_gid == 0 ? 3 : 0;
  return ((status.st_mode >> shift) & wanted) == wanted;
}

class Protector {
 public:
  explicit Protector(Resolution& resolution) : resolution_(resolution) {}

  Result<> Run(const std::vector<SearchedRoot>& searched_roots, const std::vector<std::string>& project_roots) {
    for (const Rule& rule : resolution_.rules) TRY_VOID(Note(rule));
    kept_open_ = opened_;
    for (const std::string& root : project_roots) {
      TRY(PathWalk walk, walker_.Walk(root));
      kept_open_.insert(std::move(walk.path));
    }
    for (const std::string& root : WritableRoots()) TRY_VOID(ProtectNames(root));
    for (const SearchedRoot& root : searched_roots) TRY_VOID(ProtectNested(root));
    for (const SearchedRoot& root : searched_roots) TRY_VOID(NoteElsewhere(root));
    return {};
  }

 private:
  // Returns the paths of write rules below which names are protected. The root of the file system is not among them,
  // because it is no project. Nor is a path that ends in a protected name: a rule for `.git` opens all of it.
  std::vector<std::string> WritableRoots() const {
    std::vector<std::string> roots;
    for (const Rule& rule : resolution_.rules) {
      const bool is_project = rule.path != "/" && !IsProtectedName(NameOf(rule.path));
      if (rule.access == Access::kWrite && is_project) roots.push_back(rule.path);
    }
    return roots;
  }

  Result<> ProtectNames(const std::string& root) {
    TRY(const PathWalk walk, walker_.Walk(root));
    if (!walk.exists() || walk.end == PathWalk::End::kFile) return {};
    for (const std::string& name : kProtectedNames) TRY_VOID(ProtectName(root, walk, name));
    return {};
  }

  Result<> Note(const Rule& rule) {
    TRY(const PathWalk walk, walker_.Walk(rule.path));
    places_.rules.push_back({.path = walk.path, .access = rule.access});
    if (rule.access == Access::kWrite) opened_.insert(walk.path);
    named_.insert(rule.path);
    resolution_.led_to.emplace(rule.path, walk.path);
    return {};
  }

  Result<> Add(const std::string& path) {
    resolution_.rules.push_back({.path = path, .access = Access::kRead});
    return Note(resolution_.rules.back());
  }

  // Makes `path` read-only if it could be written and no write rule is about it. `place` is where `path` leads.
  Result<> ProtectPlace(const std::string& path, const std::string& place) {
    const bool is_writable = AccessTo(places_, place) == Access::kWrite;
    return is_writable && !opened_.contains(place) ? Add(path) : Result<>();
  }

  Result<> Protect(const std::string& path) {
    TRY(const PathWalk walk, walker_.Walk(path));
    return ProtectPlace(path, walk.path);
  }

  Result<> ProtectName(const std::string& root, const PathWalk& root_walk, const std::string& name) {
    const std::string path = root + "/" + name;
    TRY(const PathWalk walk, walker_.Walk(path));
    const bool is_link = walk.links.size() > root_walk.links.size();
    if (!is_link && opened_.contains(walk.path)) return {};
    const bool is_open_link = is_link && !named_.contains(path) && AccessTo(places_, root_walk.path) == Access::kWrite;
    TRY_VOID(ProtectPlace(is_link ? walk.path : path, walk.path));
    if (name == ".git") TRY_VOID(ProtectWhereGitIs(walk));
    return is_open_link ? Add(path) : Result<>();
  }

  Result<> ProtectWhereGitIs(const PathWalk& git) {
    std::optional<std::string> directory = git.path;
    if (git.end == PathWalk::End::kFile) directory = PointedGitDirectory(git.path);
    if (!directory) return {};
    const std::optional<std::string> common = CommonGitDirectory(*directory);
    TRY(const bool is_opened, IsOpenedWith(*directory, common));
    if (is_opened) return {};
    TRY_VOID(Protect(*directory));
    return common ? Protect(*common) : Result<>();
  }

  // Returns whether a write rule for the common directory opens the git directory of a worktree too, which lies inside
  // of it. The common directory must be called `.git`: the command may be able to write the file that names it, and
  // could otherwise name any writable root.
  Result<bool> IsOpenedWith(const std::string& directory, const std::optional<std::string>& common) {
    if (!common) return false;
    TRY(const PathWalk shared, walker_.Walk(*common));
    TRY(const PathWalk walk, walker_.Walk(directory));
    return NameOf(shared.path) == ".git" && opened_.contains(shared.path) && IsBelow(walk.path, shared.path);
  }

  Result<> ProtectNested(const SearchedRoot& root) {
    for (const std::string& path : root.repositories) {
      const auto locked = NameOf(path) == ".git" ? LockedAbove(path, root.path) : path;
      TRY_VOID(locked ? Protect(*locked) : ProtectNestedGit(path));
    }
    return {};
  }

  // Returns the first directory on the way to `git` that no process in the sandbox can search. Nothing
  // below it can be looked at from inside, so the directory itself is protected instead.
  static std::optional<std::string> LockedAbove(const std::string& git, const std::string& root) {
    std::optional<std::string> locked;
    for (std::string_view directory = ParentOf(git); IsBelow(directory, root); directory = ParentOf(directory)) {
      if (!Permits(std::string(directory), X_OK)) locked = directory;
    }
    return locked;
  }

  // A nested `.git` that is a link is left to NoteElsewhere: a mount by name cannot keep the command from replacing the
  // link, and an earlier command may have chosen the target.
  Result<> ProtectNestedGit(const std::string& git) {
    TRY(const PathWalk parent, walker_.Walk(ParentOf(git)));
    TRY(const PathWalk walk, walker_.Walk(git));
    const bool is_link = walk.links.size() > parent.links.size();
    if (is_link || !walk.exists() || opened_.contains(walk.path)) return {};
    TRY_VOID(ProtectPlace(git, walk.path));
    if (walk.end != PathWalk::End::kDirectory) return {};
    TRY_VOID(ProtectLinkedPart(walk.path, "hooks", PathWalk::End::kDirectory));
    return ProtectLinkedPart(walk.path, "config", PathWalk::End::kFile);
  }

  // Some tools make git directories whose `hooks` and `config` are links into another git directory. Only a link that
  // leads to the same name in a git directory is followed. Otherwise a command could make a repository with links that
  // make any path of the workspace read-only for the commands after it, or keep them from starting.
  Result<> ProtectLinkedPart(const std::string& git_directory, const std::string& name, PathWalk::End kind) {
    const Result<PathWalk> walk = walker_.Walk(git_directory + "/" + name);
    if (!walk || walk->links.empty() || walk->end != kind || NameOf(walk->path) != name) return {};
    const bool leads_to_git = IsGitDirectory(std::string(ParentOf(walk->path)));
    return leads_to_git ? ProtectPlace(walk->path, walk->path) : Result<>();
  }

  Result<> NoteElsewhere(const SearchedRoot& root) {
    for (const std::string& path : root.repositories) {
      if (NameOf(path) == ".git" && !LockedAbove(path, root.path)) TRY_VOID(NoteNestedGit(path));
    }
    return {};
  }

  Result<> NoteNestedGit(const std::string& git) {
    TRY(const PathWalk parent, walker_.Walk(ParentOf(git)));
    const Result<PathWalk> walk = walker_.Walk(git);
    if (!walk || opened_.contains(walk->path)) return {};
    const bool is_link = walk->links.size() > parent.links.size();
    const bool is_writable = AccessTo(places_, parent.path) == Access::kWrite;
    if (is_link && is_writable) resolution_.nested_git.links.push_back(parent.path + "/.git");
    for (const std::string& found : GitElsewhere(git)) {
      if (MayBeClosed(found, parent.path)) Close(found);
    }
    return {};
  }

  // Returns whether a directory that a nested repository names may become read-only: the command could write it, the
  // policy does not open it, neither by its own path nor by that of a `.git` that it lies in, and no directory that
  // commands need for their work is in it.
  bool MayBeClosed(const std::string& path, const std::string& repository) const {
    if (AccessTo(places_, path) != Access::kWrite || IsAtOrBelow(repository, path)) return false;
    const auto is_in_path = [&](const std::string& kept) { return IsAtOrBelow(kept, path); };
    if (std::ranges::any_of(kept_open_, is_in_path)) return false;
    for (std::string_view above = ParentOf(path); above != "/"; above = ParentOf(above)) {
      if (NameOf(above) == ".git" && opened_.contains(std::string(above))) return false;
    }
    return true;
  }

  void Close(const std::string& path) {
    std::vector<std::string>& noted = resolution_.nested_git.elsewhere;
    const size_t names = NamesIn(path).size();
    const bool fits = noted.size() < kMaxElsewhere && names_elsewhere_ + names <= kMaxNamesElsewhere;
    if (!fits || std::ranges::find(noted, path) != noted.end()) return;
    names_elsewhere_ += names;
    noted.push_back(path);
  }

  Resolution& resolution_;
  PathWalker walker_;
  Resolution places_;  // the rules with the paths that they lead to, so that two names of a file are one path
  std::unordered_set<std::string> opened_;     // the paths that write rules lead to
  std::unordered_set<std::string> named_;      // the paths of all rules as they are written
  std::unordered_set<std::string> kept_open_;  // `opened_`, and the project roots
  size_t names_elsewhere_ = 0;
};

}  // namespace

Result<> AddProtectedPaths(Resolution& resolution, const std::vector<SearchedRoot>& searched_roots,
                           const std::vector<std::string>& project_roots) {
  return Protector(resolution).Run(searched_roots, project_roots);
}

}  // namespace holdfast::sandbox
