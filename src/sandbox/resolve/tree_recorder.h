// A recorder has the memory of a tree while a walk goes through it. It tells the walk what is remembered of the
// directory that comes next, and makes the memory for the next walk. Both memories share what has not changed.
//
// The walk tells the recorder of each directory in the order in which it comes to them: it skips a directory, or it
// keeps or replaces what is remembered of it, goes through the directories in it, and leaves it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <ctime>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "sandbox/resolve/remembered_directory.h"
#include "sandbox/resolve/remembered_listing.h"
#include "sandbox/resolve/watched_tree.h"

namespace holdfast::sandbox {

using WallClock = std::function<timespec()>;
timespec WallClockTime();

// The memory of one tree: what a walk of the whole tree has found, or what a search of its upper directories has read.
struct TreeMemory {
  RememberedPointer top = {};                               // null if no walk is remembered
  std::shared_ptr<const RememberedListings> listings = {};  // null if no search is remembered
  size_t bytes = 0;                                         // the memory that all of this takes
  size_t max_bytes = 0;  // a directory for which there is no room is read each time; on a walk, so are all below it
  WallClock now = {};
  std::shared_ptr<WatchedTree> watched = {};  // of a search; the same object for all searches of the tree
};

class TreeRecorder {
 public:
  // Takes over what `memory` has. The walk may fail, so the memory is changed only by `Finish`.
  explicit TreeRecorder(TreeMemory& memory) : memory_(memory), top_(memory.top) {}

  // Returns whether the listing of the next directory is remembered, if the directory has this state. `visitors` are
  // those that have entered it: what one of them seeks is not remembered if it had not entered when it was read.
  bool Knows(const DirectoryState& state, uint32_t visitors) const;

  // Goes into the next directory, of which Knows has returned true. The reference is valid until it is left.
  const RememberedDirectory& Keep();

  // Looks at an open directory that is about to be read.
  RememberedDirectory LookBeforeReading(int directory, uint32_t visitors) const;

  // Goes into the next directory, which has been read. The children in `read` are ignored. The reference is valid until
  // it is left.
  const RememberedDirectory& Replace(RememberedDirectory read);

  // Passes over the next directory, which no visitor enters.
  void Skip() { SetNext(nullptr); }

  void Leave();

  // Changes the memory, when the top of the tree has been left.
  void Finish();

 private:
  // A directory from the top to the current one.
  struct Level {
    RememberedPointer kept;                     // null if it was read
    std::shared_ptr<RememberedDirectory> made;  // null if neither it nor what is below it has changed
    size_t next_child = 0;
    bool has_room;

    const RememberedDirectory& directory() const { return made ? *made : *kept; }
  };

  const RememberedPointer& Next() const;
  void SetNext(RememberedPointer next);
  void Push(Level level);

  TreeMemory& memory_;
  RememberedPointer top_;
  std::vector<Level> levels_;
  size_t bytes_ = 0;
};

}  // namespace holdfast::sandbox
