#include "sandbox/resolve/protected_paths.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <limits>
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

bool IsPrivate(std::string_view path) { return IsAtOrBelow(path, "/proc") || IsAtOrBelow(path, "/dev"); }

// Returns whether the kernel lets this user follow the link. It refuses links of others in directories like /tmp
// (protected_symlinks), in which every user can make one.
bool IsFollowed(const std::string& link) {
  struct stat itself, directory;
  if (::lstat(link.c_str(), &itself) < 0 || ::stat(std::string(ParentOf(link)).c_str(), &directory) < 0) return true;
  const bool is_shared = (directory.st_mode & S_ISVTX) != 0 && (directory.st_mode & S_IWOTH) != 0;
  return !is_shared || itself.st_uid == ::geteuid() || itself.st_uid == directory.st_uid;
}

// Returns the file or directory that must stay as it is for a path to lead where it does. Empty if there is none.
std::string_view WhatDecides(const PathWalk& walk) {
  switch (walk.end) {
    case PathWalk::End::kDirectory:
    case PathWalk::End::kFile:
    case PathWalk::End::kMissing:
    case PathWalk::End::kUnderFile:
      return walk.reached;
    case PathWalk::End::kUnsearchable:
      return ParentOf(walk.reached);
    case PathWalk::End::kNowhere:
    case PathWalk::End::kFailed:
      break;
  }
  return {};
}

class Protector {
 public:
  explicit Protector(Resolution& resolution) : resolution_(resolution) {}

  Result<> Run(const std::vector<SearchedRoot>& searched_roots, const std::vector<std::string>& project_roots) {
    const std::vector<RuleByLink> by_links = NoteRules();
    kept_open_ = opened_;
    for (const std::string& root : project_roots) {
      TRY(PathWalk walk, walker_.Walk(root));
      kept_open_.insert(std::move(walk.path));
    }
    for (const auto& [rule, walk, link] : by_links) {
      if (IsFollowed(link)) Close(walk, ParentOf(link), rule.access);
    }
    for (const std::string& root : WritableRoots()) TRY_VOID(ProtectNames(root));
    for (const SearchedRoot& root : searched_roots) TRY_VOID(ProtectNested(root));
    names_left_ = kMaxNamesElsewhere;
    for (const SearchedRoot& root : searched_roots) TRY_VOID(NoteElsewhere(root));
    return {};
  }

 private:
  struct RuleByLink {
    Rule rule;
    PathWalk walk;
    std::string link;  // the first on the way that has a protected name
  };

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

  // Notes the rules of the policy, and returns those that grant nothing and lead through a protected name that is a
  // link in a writable directory. They say nothing about the place where they lead. The other rules are noted first,
  // because they decide which directories are writable.
  std::vector<RuleByLink> NoteRules() {
    std::vector<RuleByLink> by_links;
    for (const Rule& rule : resolution_.rules) {
      PathWalk walk = NoteName(rule.path);
      const auto has_protected_name = [](const CrossedLink& link) { return IsProtectedName(NameOf(link.path)); };
      if (rule.access != Access::kWrite && std::ranges::any_of(walk.links, has_protected_name)) {
        by_links.push_back({.rule = rule, .walk = std::move(walk), .link = {}});
      } else {
        NotePlace(walk.path, rule.access);
      }
    }
    std::erase_if(by_links, [&](RuleByLink& by_link) {
      const std::optional<std::string> link = KeepLinks(by_link.walk);
      by_link.link = link.value_or("");
      if (!link) NotePlace(by_link.walk.path, by_link.rule.access);
      return !link;
    });
    return by_links;
  }

  PathWalk NoteName(const std::string& path) {
    PathWalk walk = walker_.Follow(path);
    named_.insert(path);
    resolution_.led_to.emplace(path, walk.path);
    return walk;
  }

  void NotePlace(const std::string& path, Access access) {
    places_.rules.push_back({.path = path, .access = access});
    if (access == Access::kWrite) opened_.insert(path);
  }

  void Add(const std::string& path, Access access = Access::kRead) {
    resolution_.rules.push_back({.path = path, .access = access});
    NotePlace(NoteName(path).path, access);
  }

  // Makes `path` read-only if it could be written and no write rule is about it. `place` is where `path` leads.
  void ProtectPlace(const std::string& path, const std::string& place) {
    const bool is_writable = AccessTo(places_, place) == Access::kWrite;
    if (is_writable && !opened_.contains(place)) Add(path);
  }

  Result<> Protect(const std::string& path) {
    TRY(const PathWalk walk, walker_.Walk(path));
    ProtectPlace(path, walk.path);
    return {};
  }

  Result<> ProtectName(const std::string& root, const PathWalk& root_walk, const std::string& name) {
    const std::string path = root + "/" + name;
    const PathWalk walk = walker_.Follow(path);
    if (walk.links.size() > root_walk.links.size()) return ProtectLink(path, walk), Result<>();
    if (opened_.contains(walk.path)) return {};
    ProtectPlace(path, walk.path);
    return name == ".git" ? ProtectWhereGitIs(walk) : Result<>();
  }

  // Nothing that a link leads to can stop the start: another program may have made the link. It has room of its own,
  // so that it cannot leave open what the link of another name leads to.
  void ProtectLink(const std::string& path, const PathWalk& walk) {
    names_left_ = kMaxNamesOfLink;
    const std::optional<std::string> link = KeepLinks(walk);
    if (!link) return;
    if (IsFollowed(*link)) {
      Close(walk, ParentOf(*link), Access::kRead);
      if (NameOf(path) == ".git") CloseWhereGitIs(walk, ParentOf(*link));
    }
    if (named_.contains(path)) return;
    resolution_.rules.push_back({.path = path, .access = Access::kRead});
    NoteName(path);
  }

  // Keeps the links on the way from the first one that has a protected name and lies in a writable directory. Returns
  // the path of that link; absent if there is none.
  std::optional<std::string> KeepLinks(const PathWalk& walk) {
    const auto lies_open = [&](const std::string& path) {
      return AccessTo(places_, ParentOf(path)) == Access::kWrite && !IsPrivateHere(path);
    };
    const auto first = std::ranges::find_if(walk.links, [&](const CrossedLink& link) {
      return IsProtectedName(NameOf(link.path)) && lies_open(link.path);
    });
    if (first == walk.links.end()) return std::nullopt;
    Keep(first->path, resolution_.kept.links);
    if (!IsFollowed(first->path)) return first->path;
    for (auto link = first + 1; link != walk.links.end(); ++link) {
      if (lies_open(link->path) && HasRoomFor(link->path)) Keep(link->path, resolution_.kept.links);
    }
    for (const std::string& directory : walk.left) {
      const bool is_on_way = IsAtOrBelow(first->path, directory);  // and cannot be moved anyway
      if (!is_on_way && lies_open(directory) && HasRoomFor(directory)) Keep(directory, resolution_.kept.directories);
    }
    return first->path;
  }

  static void Keep(const std::string& path, std::vector<std::string>& kept) {
    if (std::ranges::find(kept, path) == kept.end()) kept.push_back(path);
  }

  // Returns whether one more path may become a mount.
  bool HasRoomFor(std::string_view path) {
    const size_t names = NamesIn(path).size();
    if (names > names_left_) return false;
    names_left_ -= names;
    return true;
  }

  // Gives what a link leads to the access of a rule about the link, if that takes something away.
  void Close(const PathWalk& walk, std::string_view repository, Access access) {
    const std::string path(WhatDecides(walk));
    if (path.empty() || path == "/" || IsPrivateHere(path) || IsKeptOpen(path, repository)) return;
    const Access before = AccessTo(places_, path);
    if (before == Access::kDeny || (access == Access::kRead && before == Access::kRead) || !HasRoomFor(path)) return;
    Add(path, access);
  }

  void CloseWhereGitIs(const PathWalk& git, std::string_view repository) {
    std::optional<std::string> directory = git.path;
    if (git.end == PathWalk::End::kFile) directory = PointedGitDirectory(git.path);
    if (!directory) return;
    const std::optional<std::string> common = CommonGitDirectory(*directory);
    if (IsOpenedWith(*directory, common)) return;
    Close(walker_.Follow(*directory), repository, Access::kRead);
    if (common) Close(walker_.Follow(*common), repository, Access::kRead);
  }

  // Returns whether the sandbox has its own file there. Rules can open places in /dev, and only there.
  bool IsPrivateHere(std::string_view path) const {
    return IsPrivate(path) && std::ranges::none_of(resolution_.rules, [&](const Rule& rule) {
             return IsBelow(rule.path, "/dev") && IsAtOrBelow(path, rule.path);
           });
  }

  Result<> ProtectWhereGitIs(const PathWalk& git) {
    std::optional<std::string> directory = git.path;
    if (git.end == PathWalk::End::kFile) directory = PointedGitDirectory(git.path);
    if (!directory) return {};
    const std::optional<std::string> common = CommonGitDirectory(*directory);
    if (IsOpenedWith(*directory, common)) return {};
    TRY_VOID(Protect(*directory));
    return common ? Protect(*common) : Result<>();
  }

  // Returns whether a write rule for the common directory opens the git directory of a worktree too, which lies inside
  // of it. The common directory must be called `.git`: the command may be able to write the file that names it, and
  // could otherwise name any writable root.
  bool IsOpenedWith(const std::string& directory, const std::optional<std::string>& common) {
    if (!common) return false;
    const std::string shared = walker_.Follow(*common).path;
    return NameOf(shared) == ".git" && opened_.contains(shared) && IsBelow(walker_.Follow(directory).path, shared);
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
    const PathWalk walk = walker_.Follow(git);
    const bool is_link = walk.links.size() > parent.links.size();
    if (is_link || !walk.exists() || opened_.contains(walk.path)) return {};
    ProtectPlace(git, walk.path);
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
    if (leads_to_git) ProtectPlace(walk->path, walk->path);
    return {};
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
      if (MayBeClosed(found, parent.path)) NoteClosed(found);
    }
    return {};
  }

  // Returns whether a directory that a nested repository names may become read-only: the command could write it, the
  // policy does not open it, neither by its own path nor by that of a `.git` that it lies in, and no directory that
  // commands need for their work is in it.
  bool MayBeClosed(const std::string& path, const std::string& repository) const {
    return AccessTo(places_, path) == Access::kWrite && !IsKeptOpen(path, repository);
  }

  bool IsKeptOpen(std::string_view path, std::string_view repository) const {
    if (IsAtOrBelow(repository, path)) return true;
    const auto is_in_path = [&](const std::string& kept) { return IsAtOrBelow(kept, path); };
    if (std::ranges::any_of(kept_open_, is_in_path)) return true;
    for (std::string_view above = ParentOf(path); above != "/"; above = ParentOf(above)) {
      if (NameOf(above) == ".git" && opened_.contains(std::string(above))) return true;
    }
    return false;
  }

  void NoteClosed(const std::string& path) {
    std::vector<std::string>& noted = resolution_.nested_git.elsewhere;
    const bool is_known = std::ranges::find(noted, path) != noted.end();
    if (!is_known && noted.size() < kMaxElsewhere && HasRoomFor(path)) noted.push_back(path);
  }

  Resolution& resolution_;
  PathWalker walker_;
  Resolution places_;  // the rules with the paths that they lead to, so that two names of a file are one path
  std::unordered_set<std::string> opened_;     // the paths that write rules lead to
  std::unordered_set<std::string> named_;      // the paths of all rules as they are written
  std::unordered_set<std::string> kept_open_;  // `opened_`, and the project roots
  // Those that may still be on the ways to what a link, or a repository, names. A rule of the policy is enforced
  // however deep the links on its path lead.
  size_t names_left_ = std::numeric_limits<size_t>::max();
};

}  // namespace

Result<> AddProtectedPaths(Resolution& resolution, const std::vector<SearchedRoot>& searched_roots,
                           const std::vector<std::string>& project_roots) {
  return Protector(resolution).Run(searched_roots, project_roots);
}

}  // namespace holdfast::sandbox
