// The names that a policy protects, as a file helper keeps to them.
//
// Some must stay absent. A sandbox keeps a command from making a protected name that is missing by a mount over it,
// which needs a placeholder in the user's tree. A file helper runs none but our own code, so it refuses such names by
// itself, and the user's tree stays as it is. The others exist, and have mounts over them.
//
// A change is checked with the directory that it happens in held open: whatever is swapped in a path meanwhile, that
// directory and that name are what the kernel is given. When a name is no longer as it was planned, because another
// process has made or removed it, the work of the helper ends: the next one has the mounts that the policy asks for.
//
// What it does not see: a name that appears, is read and goes again while one request is served.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "base/owned_fd.h"
#include "base/result.h"
#include "files/disk/protected_mounts.h"

namespace holdfast::files {

class GuardedNames {
 public:
  // None at all.
  GuardedNames() = default;

  // The paths are absolute and normal; the directory of each absent one must exist, and no link may lead to it.
  static Result<GuardedNames> Open(std::span<const std::string> absent, std::vector<std::string> mounted);

  bool empty() const { return absent_.empty() && mounts_.empty(); }

  // Whether the absent ones are still missing, and the others have their mounts. The placeholder of another sandbox is
  // as good as missing.
  bool AreAsPlanned() const;

  // Whether `name` in `directory` may be made, replaced or removed: 0, or -EROFS as on a mount that is read-only, or
  // another -errno.
  int CheckChange(int directory, const std::string& name) const;

  // The two halves of it, for work on many names of one directory: the first is asked once, after it was opened.
  int CheckDirectory(int directory) const;
  int CheckName(int directory, const std::string& name) const;

  // The same as far as the spelling of a path tells. It spares the client an answer about a missing directory that it
  // is not allowed to make.
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

// For callers that nothing is kept from.
inline const GuardedNames kNothingGuarded;

}  // namespace holdfast::files
