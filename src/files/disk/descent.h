// A descent goes down a tree of directories and back up, from one directory descriptor to the next. It looks nothing up
// by its path and follows no link. So a directory that another process replaces by a link, or moves away, cannot lead
// it out of the tree.
//
// At most kMaxOpen directories are open, however deep the tree is. Going down closes the highest of them. Going up
// opens them again as the ".." of the directory below, and fails if this is no longer the same directory.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/owned_fd.h"
#include "base/result.h"
#include "files/disk/directory.h"
#include "sys/file_identity.h"

namespace holdfast::files {

class Descent {
 public:
  static constexpr size_t kMaxOpen = 32;

  // `top` is a descriptor of a directory, which may be O_PATH. `path` is used in messages.
  Descent(OwnedFd top, std::string path);

  // The directory that the descent has reached. The depth of the top is 0. Below the top the descriptor is O_PATH.
  size_t depth() const { return levels_.size() - 1; }
  int fd() const { return levels_.back().directory.get(); }
  const std::string& name() const { return levels_.back().name; }  // empty at the top

  // Goes down into a directory. Returns 0 or -errno, which is -ENOTDIR or -ELOOP if the name is not a directory.
  int Enter(const std::string& name);

  // Goes up, and returns the directory that it has left, still open.
  Result<OwnedFd> Leave();

  // Returns a reader of the names in the directory that the descent has reached.
  Result<DirectoryReader> List() const;

  // Returns the path of a name in the directory that the descent has reached, for messages. The middle of a long path
  // is left out.
  std::string PathOf(std::string_view name) const;

 private:
  struct Level {
    std::string name;
    OwnedFd directory;
    // The identity of the directory, which is checked when it is opened again. It is set only while the directory is
    // closed.
    sys::FileIdentity identity = {};
  };

  int CloseHighest();
  Result<> Reopen(Level& level, int below);

  std::string path_;
  std::vector<Level> levels_;
  size_t highest_open_ = 0;  // an index into levels_; this level and all deeper ones are open
};

// Returns the next name, or nothing at the end. A directory that another process has removed has no more names.
Result<std::optional<RawEntry>> NextIn(DirectoryReader& reader);

}  // namespace holdfast::files
