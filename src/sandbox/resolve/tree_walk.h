// A look at the directories of a tree, each once, from the top down. Directories are opened by the descriptors of those
// they are in, so that one that is moved meanwhile leads nowhere else; links are nowhere followed.
#pragma once

#include <chrono>
#include <cstddef>
#include <span>
#include <string_view>

#include "base/result.h"
#include "sandbox/resolve/directory_listing.h"

namespace holdfast::sandbox {

struct WalkedDirectory {
  std::string_view path;  // below the top of the tree; empty: the top itself
  size_t depth;           // how many names that are
};

// What looks for something in the tree. Several can share a walk.
class TreeVisitor {
 public:
  virtual ~TreeVisitor() = default;

  // Before all that is in the directory. With false the visitor is not asked about anything below it.
  virtual bool Enter(const WalkedDirectory& directory) = 0;

  // Every entry of a directory that was entered, directories too. A failure ends the walk.
  virtual Result<> Visit(const WalkedDirectory& directory, std::string_view name, EntryKind kind) = 0;

  // After all that is below a directory that was entered.
  virtual void Leave() = 0;
};

// Enters what any of the visitors enters. Fails when such a directory cannot be read, and at the deadline; one that is
// gone meanwhile has no entries.
Result<> WalkTree(int top, std::span<TreeVisitor* const> visitors, std::chrono::steady_clock::time_point deadline);

}  // namespace holdfast::sandbox
