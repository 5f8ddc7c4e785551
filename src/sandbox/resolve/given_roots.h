// The writable roots that one server has given to sandboxed commands, in all its sessions. The server shares the list
// with its helpers by one descriptor of a memory file, and each plan adds its roots. A command can leave a link in its
// root, and so choose which directory a later root leads to; the list tells where such links may lie (made_links.h).
//
// What it does not remember: roots of other servers, and those from before the start of this one.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/owned_fd.h"
#include "base/result.h"

namespace holdfast::sandbox {

// The list as it was when it was read.
class GivenRoots {
 public:
  // The list is empty.
  static Result<std::shared_ptr<const OwnedFd>> Make();
  static Result<GivenRoots> Read(int list);

  // Adds the roots to the list. Their paths have no links. A root in one that is in the list needs no entry. When the
  // list is full, everything counts as given from then on.
  static Result<> Add(int list, std::span<const std::string> roots);

  // Returns whether a file at this path, which has no links, lies in a root: by the names, or because a directory above
  // it is a root that was renamed.
  bool Contain(std::string_view path) const;

 private:
  struct Root {
    uint64_t device, inode, born;  // `born` tells a directory from a later one with the same number
    std::string path;
  };

  static Result<Root> Parse(std::string_view entry);

  std::vector<Root> roots_;
  bool everything_ = false;
};

}  // namespace holdfast::sandbox
