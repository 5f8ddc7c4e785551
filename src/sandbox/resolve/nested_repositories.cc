#include "sandbox/resolve/nested_repositories.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <cerrno>
#include <climits>
#include <deque>
#include <iterator>

#include "base/owned_fd.h"
#include "base/paths.h"
#include "sandbox/resolve/directory_listing.h"
#include "sys/open.h"

namespace holdfast::sandbox {
namespace {

struct Directory {
  std::string path;  // below the root, with a slash in front
  size_t depth;
};

// Such a directory has thousands of directories below it, and no repository that people work in.
constexpr std::string_view kPackages = "node_modules";

constexpr std::string_view kGit = ".git";

class NestedGitSearch {
 public:
  NestedGitSearch(const NestedSearch& search, const EntersDirectory& enter) : search_(search), enter_(enter) {}

  Result<std::vector<std::string>> Run() {
    const int opened = sys::TryOpenAt(AT_FDCWD, search_.root, O_PATH | O_DIRECTORY, sys::Links::kFollow);
    if (opened < 0) return found_;  // nothing is there, or nothing that the command could write to
    const OwnedFd root(opened);
    for (; !pending_.empty() && found_.size() < search_.max_repositories; pending_.pop_front()) {
      const Directory& directory = pending_.front();
      if (MayList() && directory.depth < search_.max_depth) {
        TRY_VOID(List(root.get(), directory));
      } else if (probed_ < search_.max_probed) {
        Probe(root.get(), directory);
      }
    }
    return std::move(found_);
  }

 private:
  bool MayList() const { return listed_ < search_.max_listed && entries_ < search_.max_entries; }

  Result<> List(int root, const Directory& directory) {
    ++listed_;
    const std::string relative = directory.path.empty() ? "" : directory.path.substr(1);
    Result<> listed = ListDirectory(root, relative, [&](std::string_view name, EntryKind kind) {
      Visit(directory, name, kind);
      return entries_ < search_.max_entries ? Listing::kContinue : Listing::kStop;
    });
    const bool is_locked = !listed && listed.error().kind == ErrorKind::kPermissionDenied;
    if (!is_locked) return listed;
    if (directory.depth > 0) found_.push_back(search_.root + directory.path);
    return {};
  }

  void Visit(const Directory& directory, std::string_view name, EntryKind kind) {
    ++entries_;
    if (name == kGit) {
      if (directory.depth > 0) Found(directory);
    } else if (kind == EntryKind::kDirectory && name != kPackages) {
      std::string path = directory.path + "/";
      path.append(name);
      if (enter_(search_.root + path)) pending_.push_back({.path = std::move(path), .depth = directory.depth + 1});
    }
  }

  void Probe(int root, const Directory& directory) {
    ++probed_;
    const std::string git = directory.path.substr(1) + "/.git";
    struct stat status{};
    if (::fstatat(root, git.c_str(), &status, AT_SYMLINK_NOFOLLOW) == 0) return Found(directory);
    if (errno == EACCES) found_.push_back(search_.root + directory.path);
  }

  void Found(const Directory& directory) { found_.push_back(search_.root + directory.path + "/.git"); }

  const NestedSearch& search_;
  const EntersDirectory& enter_;
  std::deque<Directory> pending_ = {{.path = "", .depth = 0}};
  std::vector<std::string> found_;
  size_t listed_ = 0, entries_ = 0, probed_ = 0;
};

}  // namespace

Result<std::vector<std::string>> FindNestedGit(const NestedSearch& search, const EntersDirectory& enter) {
  return NestedGitSearch(search, enter).Run();
}

void RepositoryVisitor::SetPath(std::string_view below) {
  path_.resize(root_size_);
  path_.append("/").append(below);
}

bool RepositoryVisitor::Enter(const WalkedDirectory& directory) {
  if (directory.depth == 0) return true;
  const std::string_view name = NameOf(directory.path);
  if (name == kGit || name == kPackages) return false;
  SetPath(directory.path);
  return enter_(path_);
}

bool RepositoryVisitor::Seeks(const WalkedDirectory& directory, std::string_view name, EntryKind) const {
  return name == kGit && directory.depth > 0;
}

Result<> RepositoryVisitor::Visit(const WalkedDirectory& directory, std::string_view name, EntryKind) {
  SetPath(directory.path);
  path_.append("/").append(name);
  if (path_.size() >= PATH_MAX) return {};  // nothing can be mounted there
  found_.emplace(directory.depth + 1, path_);
  if (found_.size() > kMaxRepositories) found_.erase(std::prev(found_.end()));
  return {};
}

std::vector<std::string> RepositoryVisitor::Take() {
  std::vector<std::string> nearest;
  size_t names = 0;
  for (const auto& [depth, path] : found_) {
    names += depth;
    if (names > kMaxNames) break;
    nearest.push_back(path);
  }
  return nearest;
}

}  // namespace holdfast::sandbox
