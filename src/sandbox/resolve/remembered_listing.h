// A remembered listing is what a search for repositories has read in one directory. It holds while the directory has
// the same state (remembered_directory.h), and is never changed, so that several threads can search by it at a time.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <unordered_map>

#include "sandbox/resolve/remembered_directory.h"

namespace holdfast::sandbox {

struct RememberedListing {
  DirectoryState state = {};     // from before the directory was read
  std::string directories = {};  // the names of the directories in it to search, with a nul byte behind each
  size_t entries = 0;            // the number of those that were read
  bool has_git = false;          // one of them is `.git`
  bool is_whole = true;          // the directory has no further entries

  // Returns whether a search that may read only so many further entries would read the same.
  bool HoldsWithin(size_t max_entries) const { return is_whole ? entries <= max_entries : entries == max_entries; }
};

using ListingPointer = std::shared_ptr<const RememberedListing>;

// The listings of a tree, by the path from its top.
using RememberedListings = std::unordered_map<std::string, ListingPointer>;

}  // namespace holdfast::sandbox
