// The way down a tree of directories and back up, from descriptor to descriptor. Nothing on it is looked up by its path
// and no link is followed: a directory that is swapped for a link, or moved away, leads nowhere else.
//
// However deep it goes, at most kMaxOpen directories are open. Going down closes the highest of them; going up opens
// them again as the ".." of the one below, provided that this still is the directory it was.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/owned_fd.h"
#include "base/result.h"
#include "files/disk/directory_reader.h"
#include "sys/file_identity.h"

namespace holdfast::files {

class Descent {
 public:
  static constexpr size_t kMaxOpen = 32;

  // `top` is a directory, O_PATH or more; `path` is for messages.
  Descent(OwnedFd top, std::string path);

  // Where the way has come: 0 is the top. The descriptor is O_PATH.
  size_t depth() const { return levels_.size() - 1; }
  int fd() const { return levels_.back().directory.get(); }
  const std::string& name() const { return levels_.back().name; }  // below the top

  // Goes down; -errno otherwise, ENOTDIR or ELOOP when it is no directory.
  int Enter(const std::string& name);

  // Goes up, and returns what is left behind, still open.
  Result<OwnedFd> Leave();

  // The names in the directory reached.
  Result<DirectoryReader> List() const;

  // Of a name in the directory reached, for messages: the path of a deep one is abridged.
  std::string PathOf(std::string_view name) const;

 private:
  struct Level {
    std::string name;
    OwnedFd directory;
    // Where it must lead when it is opened again; known of closed ones only.
    sys::FileIdentity identity = {};
  };

  int CloseHighest();
  Result<> Reopen(Level& level, int below);

  std::string path_;
  std::vector<Level> levels_;
  size_t highest_open_ = 0;  // in levels_; all below it are open
};

// The next name, or absent at the end. In a directory that somebody else has removed there are no more names.
Result<std::optional<RawEntry>> NextIn(DirectoryReader& reader);

}  // namespace holdfast::files
