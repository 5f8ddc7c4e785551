// A walk memory has what the scans for patterns, and the searches for nested repositories, have found in the trees that
// were searched last. The next scan or search of such a tree reads only the directories that have changed
// (remembered_directory.h says how it knows). It finds the same with a memory as without one. Several threads can use
// it at a time, also for the same tree.
#pragma once

#include <cstddef>
#include <list>
#include <optional>
#include <string>
#include <vector>

#include "base/mutex.h"
#include "sandbox/policy/glob_match.h"
#include "sandbox/resolve/tree_recorder.h"

namespace holdfast::sandbox {

// What a search is for. Searches with the same key walk the same tree, and seek the same in it. A search for nested
// repositories has no patterns.
struct SearchKey {
  std::string root;
  std::vector<Glob> globs;
  std::optional<size_t> max_depth;

  size_t bytes() const;

  friend bool operator==(const SearchKey&, const SearchKey&) = default;
};

// The bounds of a memory. 16 MiB are enough for about 60 000 directories.
struct WalkMemoryLimits {
  size_t max_trees = 32;
  size_t max_tree_bytes = 16u << 20;
  size_t max_bytes = 64u << 20;  // of all trees together; the ones that were not used for longest are forgotten
  // Each watched tree takes an inotify instance and some hundred watches, of which a user has a bounded number.
  size_t max_watched_trees = 4;
  // The searches in a row that find nothing new before the tree is watched, which costs as much as four of them.
  size_t searches_before_watch = 8;
};

class WalkMemory {
 public:
  using Limits = WalkMemoryLimits;

  explicit WalkMemory(Limits limits = {}, WallClock now = WallClockTime);

  // Returns the memory of a tree, which is empty if the tree is not remembered. It stays the same while other threads
  // remember the same tree.
  TreeMemory Recall(const SearchKey& key);

  // Remembers the tree after a walk, in the place of what was remembered of it.
  void Remember(SearchKey key, TreeMemory tree);

  // Returns the memory that all trees take.
  size_t bytes() const;

 private:
  struct Tree {
    SearchKey key;
    TreeMemory memory;
    size_t bytes;  // with the key
  };

  struct Watched {
    std::string root;
    std::shared_ptr<WatchedTree> tree;
  };

  std::shared_ptr<WatchedTree> WatchedAt(const std::string& root) REQUIRES(mutex_);
  std::list<Tree>::iterator Find(const SearchKey& key) REQUIRES(mutex_);
  void Take(std::list<Tree>::iterator tree, std::list<Tree>& into) REQUIRES(mutex_);

  const Limits limits_;
  const WallClock now_;
  mutable Mutex mutex_;
  std::list<Tree> trees_ GUARDED_BY(mutex_);  // the one that was used last is the first
  size_t bytes_ GUARDED_BY(mutex_) = 0;
  std::list<Watched> watched_ GUARDED_BY(mutex_);  // in the same order
};

}  // namespace holdfast::sandbox
