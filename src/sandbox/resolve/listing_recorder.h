// A listing recorder has what the last search of a tree has read, while the next one goes through it. It shows the
// search the listings that still hold, and makes the memory for the search after it. Both memories share what has not
// changed.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "sandbox/resolve/remembered_listing.h"
#include "sandbox/resolve/tree_recorder.h"
#include "sandbox/resolve/watched_tree.h"

namespace holdfast::sandbox {

class ListingRecorder {
 public:
  // Takes over what `memory` has. The search may fail, so the memory is changed only by `Finish`.
  explicit ListingRecorder(TreeMemory& memory) : memory_(memory), before_(memory.listings) {}

  // Tells that the search begins. `root` is the open top of the tree.
  void Begin(int root);

  // Looks at the directory `path` below the open directory `root`; an empty path is `root` itself. Returns its listing
  // if it is remembered and still holds, and if a search that may read `max_entries` would read the same. Otherwise the
  // result is null.
  ListingPointer Look(int root, const std::string& path, size_t max_entries);

  // Looks for the `.git` in a directory that is not listed.
  GitProbe Probe(int root, const std::string& path);

  // Looks at an open directory that is about to be read. Absent if what is read of it cannot be remembered.
  std::optional<DirectoryState> LookBeforeReading(int directory) const;

  // Remembers what has been read of the directory `path`.
  void Remember(const std::string& path, ListingPointer read);

  // Changes the memory, when the search has ended. Returns whether there was something to change.
  bool Finish(int root);

 private:
  const WatchedTree::Known* KnownAt(const std::string& path) const;
  void Note(const std::string& path, ListingPointer listing);

  TreeMemory& memory_;
  std::shared_ptr<const RememberedListings> before_;         // null if nothing is remembered
  std::vector<const RememberedListings::value_type*> kept_;  // of `before_`: those that still hold
  RememberedListings read_;
  std::shared_ptr<const WatchedTree::KnownDirectories> watched_;  // null if the tree is not watched
  bool notes_ = false;                                            // whether somebody needs what was looked at
  std::vector<WatchedTree::Directory> looked_at_;
};

}  // namespace holdfast::sandbox
