// Git repositories inside of a project: found by a bounded look at its directories, or on a walk that somebody else
// makes of all of them.
//
// What it does not find: repositories out of the bounds, in a linked directory, in `node_modules`, or made after the
// look. A command can push one out of the bounds for the commands after it by making many directories; on a walk, by
// making many repositories.
#pragma once

#include <cstddef>
#include <functional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "sandbox/resolve/tree_walk.h"

namespace holdfast::sandbox {

// The look is paid at every start of a command, so it is short: about a millisecond in a large tree.
struct NestedSearch {
  std::string root = {};
  size_t max_depth = 4;  // of a repository; 1: directly in `root`
  size_t max_listed = 64, max_entries = 4096;
  size_t max_probed = 256;  // directories that are not listed, only asked for a `.git`, which is much cheaper
  size_t max_repositories = 64;
};

// Whether to look for repositories in a directory.
using EntersDirectory = std::function<bool(const std::string& path)>;

// The paths of their `.git`, of whatever kind, the nearest first; without that of `root`. Of a directory that may not
// be listed its own path, for there may be some below it. Those for which `enter` says no are left out.
Result<std::vector<std::string>> FindNestedGit(const NestedSearch& search, const EntersDirectory& enter);

// The same on a walk of the whole tree, at whatever depth. Each name on the way to a repository may become a mount, so
// there is a bound on all of them together.
class RepositoryVisitor : public TreeVisitor {
 public:
  static constexpr size_t kMaxRepositories = 64, kMaxNames = 512;

  RepositoryVisitor(std::string root, EntersDirectory enter) : path_(std::move(root)), enter_(std::move(enter)) {}

  bool Enter(const WalkedDirectory& directory) override;
  Result<> Visit(const WalkedDirectory& directory, std::string_view name, EntryKind kind) override;
  void Leave() override {}

  // The paths of their `.git`, the nearest first.
  std::vector<std::string> Take();

 private:
  void SetPath(std::string_view below);

  std::string path_;  // the root, and what is looked at below it
  size_t root_size_ = path_.size();
  EntersDirectory enter_;
  std::set<std::pair<size_t, std::string>> found_;  // with their depth; the nearest of all
};

}  // namespace holdfast::sandbox
