// A placeholder is an empty directory or file that a sandbox has made under a protected name that is missing, to mount
// over it (sandbox/jail/placeholders.h). It is in the user's tree while the sandbox runs. No file request of any client
// sees it: to these requests the name is missing.
//
// A placeholder differs from an empty directory or file of the user by its mode, which no other program uses. It
// is one from the moment in which it is made. The directory that it is made in may change its mode then: a directory
// gets the set-group-ID bit from one that has it, and a default ACL takes permissions of the group and of others away.
#pragma once

#include <sys/stat.h>

#include <string>

#include "sys/open.h"

namespace holdfast::sys {

inline constexpr mode_t kPlaceholderDirectoryMode = S_ISVTX | 0555;
inline constexpr mode_t kPlaceholderFileMode = S_ISVTX | 0444;

// Returns whether the mode is one that a placeholder can have. Hardly anything else has such a mode.
constexpr bool HasPlaceholderMode(mode_t mode) {
  if (!S_ISDIR(mode) && !S_ISREG(mode)) return false;
  const mode_t made_with = S_ISDIR(mode) ? kPlaceholderDirectoryMode : kPlaceholderFileMode;
  const mode_t always = made_with & (S_ISVTX | S_IRWXU), possible = made_with | (S_ISDIR(mode) ? S_ISGID : 0);
  return (mode & always) == always && (mode & ALLPERMS & ~possible) == 0;
}

// Returns whether the descriptor, which may be O_PATH, refers to a placeholder. A directory or file that is not empty
// belongs to the user, and is not a placeholder.
bool IsPlaceholder(int fd);

// Returns whether a path relative to a directory, which may be AT_FDCWD, is that of a placeholder. A link is not one,
// unless links are followed.
bool IsPlaceholderAt(int directory, const std::string& path, Links links = Links::kFollowToLast);

// Returns the same for a path whose mode is known already, which rules nearly all paths out.
inline bool IsPlaceholderOfMode(mode_t mode, int directory, const std::string& path, Links links) {
  return HasPlaceholderMode(mode) && IsPlaceholderAt(directory, path, links);
}

// Returns whether a name that was found in the listing of a directory is that of a placeholder. The names that every
// sandbox protects begin with a dot. Other names are checked only after ExpectPlaceholdersOfAnyName, because the check
// of a name costs more than the rest of a listing. For these names only the memory of the kernel is asked and never a
// disk: a placeholder in use is open in its sandbox, so the kernel has it in memory.
bool IsListedPlaceholder(int directory, const std::string& name);

// From this call on, this process expects placeholders under any name.
void ExpectPlaceholdersOfAnyName();

// Turns a placeholder into a directory or file of the user, with the permissions of `mode` without the bits of the
// umask. The sandboxes that use it keep their mounts over it, and no longer remove it. `mode` also has the wanted kind
// of file, S_IFDIR or S_IFREG. Returns 0, or -ENOENT if there is no placeholder, or another -errno. This is -EBUSY if
// the placeholder is of the other kind, because it cannot be replaced under a running sandbox.
int AdoptPlaceholder(int directory, const std::string& path, mode_t mode, Links links = Links::kFollowToLast);

// Makes a directory, or turns a placeholder into it. Returns 0 or -errno.
int MakeOrAdoptDirectory(int directory, const std::string& name, mode_t mode);

}  // namespace holdfast::sys
