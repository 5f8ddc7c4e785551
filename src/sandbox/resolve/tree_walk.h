// A walk visits each directory of a tree once, from the top down. It opens a directory through the descriptor of a
// directory above it, so that a directory which is moved meanwhile does not lead the walk out of the tree. It follows
// no links.
//
// A walk with a memory of the tree only looks at a directory that has not changed, and visits the entries that are
// remembered. It finds the same as a walk without one.
#pragma once

#include <chrono>
#include <cstddef>
#include <span>
#include <string_view>

#include "base/result.h"
#include "sandbox/resolve/directory_listing.h"
#include "sandbox/resolve/tree_recorder.h"

namespace holdfast::sandbox {

struct WalkedDirectory {
  std::string_view path;  // relative to the top of the tree; empty for the top itself
  size_t depth;           // the number of names in `path`
};

// A visitor looks for something in the tree. Several visitors can share a walk.
class TreeVisitor {
 public:
  virtual ~TreeVisitor() = default;

  // Called before the entries of the directory are visited. If it returns false, the visitor is called for nothing in
  // this directory or below it.
  virtual bool Enter(const WalkedDirectory& directory) = 0;

  // Returns whether the visitor is to be called for an entry of a directory that it has entered. The entry can be a
  // directory. A walk with a memory does not ask about entries again that no visitor has sought, so the answer must
  // depend on nothing but the arguments, and be the same on all walks with this memory.
  virtual bool Seeks(const WalkedDirectory& directory, std::string_view name, EntryKind kind) const = 0;

  // Called for every entry that the visitor seeks. A failure ends the walk.
  virtual Result<> Visit(const WalkedDirectory& directory, std::string_view name, EntryKind kind) = 0;

  // Called after everything below a directory that the visitor has entered.
  virtual void Leave() = 0;
};

struct WalkOptions {
  std::chrono::steady_clock::time_point deadline;
  TreeMemory* memory = nullptr;  // of this tree with these visitors; changed when the walk has succeeded; may be null
};

// Walks the tree below the open directory `top`, into each directory that at least one visitor enters. There are at
// most 32 visitors. Fails when such a directory cannot be read, or when the deadline has passed. A directory that was
// removed meanwhile counts as empty.
Result<> WalkTree(int top, std::span<TreeVisitor* const> visitors, const WalkOptions& options);

}  // namespace holdfast::sandbox
