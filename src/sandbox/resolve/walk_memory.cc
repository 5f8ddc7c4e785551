#include "sandbox/resolve/walk_memory.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace holdfast::sandbox {

size_t SearchKey::bytes() const {
  size_t bytes = sizeof(SearchKey) + root.capacity();
  for (const Glob& glob : globs) bytes += glob.bytes();
  return bytes;
}

WalkMemory::WalkMemory(Limits limits, WallClock now) : limits_(limits), now_(std::move(now)) {}

TreeMemory WalkMemory::Recall(const SearchKey& key) {
  const MutexLock lock(mutex_);
  auto watched = key.globs.empty() ? WatchedAt(key.root) : nullptr;
  const auto tree = Find(key);
  if (tree == trees_.end()) {
    return {.max_bytes = limits_.max_tree_bytes, .now = now_, .watched = std::move(watched)};
  }
  trees_.splice(trees_.begin(), trees_, tree);
  tree->memory.watched = std::move(watched);
  return tree->memory;
}

std::shared_ptr<WatchedTree> WalkMemory::WatchedAt(const std::string& root) {
  const auto found = std::ranges::find(watched_, root, &Watched::root);
  if (found != watched_.end()) {
    watched_.splice(watched_.begin(), watched_, found);
  } else {
    watched_.push_front({.root = root, .tree = std::make_shared<WatchedTree>(limits_.searches_before_watch)});
    if (watched_.size() > limits_.max_watched_trees) watched_.pop_back();
  }
  return watched_.empty() ? nullptr : watched_.front().tree;
}

void WalkMemory::Remember(SearchKey key, TreeMemory tree) {
  const size_t bytes = key.bytes() + tree.bytes;
  if (bytes > limits_.max_bytes) return;
  std::list<Tree> forgotten;  // is destroyed when the mutex is free again: that can take a while
  const MutexLock lock(mutex_);
  if (const auto before = Find(key); before != trees_.end()) Take(before, forgotten);
  trees_.push_front({.key = std::move(key), .memory = std::move(tree), .bytes = bytes});
  bytes_ += bytes;
  while (trees_.size() > limits_.max_trees || bytes_ > limits_.max_bytes) Take(std::prev(trees_.end()), forgotten);
}

size_t WalkMemory::bytes() const {
  const MutexLock lock(mutex_);
  return bytes_;
}

std::list<WalkMemory::Tree>::iterator WalkMemory::Find(const SearchKey& key) {
  return std::ranges::find(trees_, key, &Tree::key);
}

void WalkMemory::Take(std::list<Tree>::iterator tree, std::list<Tree>& into) {
  bytes_ -= tree->bytes;
  into.splice(into.begin(), trees_, tree);
}

}  // namespace holdfast::sandbox
