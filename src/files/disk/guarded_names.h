// The names that a policy protects, in the form that a file helper uses to obey it.
//
// Some of these names must stay absent. For a command, the sandbox prevents the making of a missing protected name by a
// mount over it, which needs a placeholder in the user's tree. A file helper runs no code but our own, so it refuses
// such names by itself, and the user's tree stays as it is. The other names exist, and have mounts over them.
//
// A change is checked while the directory that it happens in is held open. Even if another process changes the path
// meanwhile, the kernel is given the same directory and name that were checked. When a name is no longer as it was
// planned, because another process has made or removed it, the work of the file helper ends: the next file helper has
// the mounts that the policy asks for.
//
// What it does not see: a name that appears, is read and disappears again while one request is served.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "base/owned_fd.h"
#include "base/result.h"
#include "files/disk/mounts.h"

namespace holdfast::files {

class GuardedNames {
 public:
  // No name is guarded.
  GuardedNames() = default;

  // The paths are absolute and normalised. For each absent name, its directory must exist, and the path of that
  // directory must contain no link.
  static Result<GuardedNames> Open(std::span<const std::string> absent, std::vector<std::string> mounted);

  bool empty() const { return absent_.empty() && mounts_.empty(); }

  // Returns whether the absent names are still missing, and the others still have their mounts. A name that is the
  // placeholder of another sandbox counts as missing.
  bool AreAsPlanned() const;

  // Returns 0 if `name` in `directory` may be made, replaced or removed. Returns -EROFS if not, as a read-only mount
  // does, or another -errno.
  int CheckChange(int directory, const std::string& name) const;

  // The two halves of CheckChange, for work on many names of one directory. CheckDirectory is called once, after the
  // directory was opened.
  int CheckDirectory(int directory) const;
  int CheckName(int directory, const std::string& name) const;

  // Checks a path by its spelling alone. Without this check a client could learn that a directory is missing,
  // although it is not allowed to make that directory.
  int CheckSpelling(const std::string& path) const;

 private:
  struct Name {
    std::string path;
    OwnedFd directory;  // O_PATH
    std::string name;
  };

  bool AreMissing() const;

  std::vector<Name> absent_;
  ProtectedMounts mounts_;
};

// An object without guarded names, for callers that may change every name.
inline const GuardedNames kNothingGuarded;

}  // namespace holdfast::files
