// Two ways to find the git repositories inside of a project: a short search of its own, which looks at a bounded number
// of directories, and a visitor for a walk of the whole tree that is made for another purpose.
//
// What they do not find: repositories beyond the bounds, in a linked directory, in `node_modules`, or created after the
// search. A command can push a repository beyond the bounds for the commands after it: for the search by creating many
// directories, for the visitor by creating many repositories.
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
#include "sandbox/resolve/walk_memory.h"

namespace holdfast::sandbox {

// The bounds of the search. Every start of a command pays for it, so they are tight: in a large tree it takes about a
// millisecond, and a third of that with a memory.
struct NestedSearch {
  std::string root = {};
  size_t max_depth = 4;  // how deep a repository may lie; 1: directly in `root`
  size_t max_listed = 64, max_entries = 4096;
  size_t max_probed = 256;  // directories that are only probed for a `.git`, which is much cheaper than listing them
  size_t max_repositories = 64;
};

// Returns whether to look for repositories in a directory.
using EntersDirectory = std::function<bool(const std::string& path)>;

// Returns the path of the `.git` of each repository, whether it is a directory, a file or a link, the nearest to `root`
// first. The `.git` of `root` itself is not among them. For a directory that may not be listed its own path is
// returned, because there may be repositories below it. Directories for which `enter` returns false are left out.
// A search with a memory, which may be null, finds the same as one without, and reads only the directories that have
// changed.
Result<std::vector<std::string>> FindNestedGit(const NestedSearch& search, const EntersDirectory& enter,
                                               WalkMemory* memory = nullptr);

// The visitor finds the same on a walk of the whole tree, at whatever depth. Each name on the way to a repository may
// become a mount, so kMaxNames bounds the number of these names for all repositories together.
class RepositoryVisitor : public TreeVisitor {
 public:
  static constexpr size_t kMaxRepositories = 64, kMaxNames = 512;

  RepositoryVisitor(std::string root, EntersDirectory enter) : path_(std::move(root)), enter_(std::move(enter)) {}

  bool Enter(const WalkedDirectory& directory) override;
  bool Seeks(const WalkedDirectory& directory, std::string_view name, EntryKind kind) const override;
  Result<> Visit(const WalkedDirectory& directory, std::string_view name, EntryKind kind) override;
  void Leave() override {}

  // Returns the path of the `.git` of each repository, the nearest first.
  std::vector<std::string> Take();

 private:
  void SetPath(std::string_view below);

  std::string path_;  // the root, followed by the path below it that is being looked at
  size_t root_size_ = path_.size();
  EntersDirectory enter_;
  std::set<std::pair<size_t, std::string>> found_;  // the nearest repositories: depth and path
};

}  // namespace holdfast::sandbox
