// A placeholder is an empty directory or file that a sandbox has made under a protected name that is missing, so that
// something can be mounted over it (sandbox/placeholders.h). It stands in the user's tree while the sandbox runs, and
// no file request of any client sees it: to them the name is missing.
//
// The mode of a placeholder tells it from an empty directory or file of the user's: nobody else would choose it.
#pragma once

#include <sys/stat.h>

#include <string>

#include "sys/open.h"

namespace holdfast::sys {

inline constexpr mode_t kPlaceholderDirectoryMode = S_ISVTX | 0555;
inline constexpr mode_t kPlaceholderFileMode = S_ISVTX | 0444;

// Whether the mode is that of a placeholder. Nearly everything else is ruled out by it.
constexpr bool HasPlaceholderMode(mode_t mode) {
  if (S_ISDIR(mode)) return (mode & ALLPERMS) == kPlaceholderDirectoryMode;
  return S_ISREG(mode) && (mode & ALLPERMS) == kPlaceholderFileMode;
}

// Whether the descriptor, which may be O_PATH, is of a placeholder. Something in it makes it the user's own.
bool IsPlaceholder(int fd);

// The same of a path in a directory, which may be AT_FDCWD. A link is none unless links are followed.
bool IsPlaceholderAt(int directory, const std::string& path, Links links = Links::kFollowToLast);

// The same without a look at any disk: a placeholder in use is open in the sandbox that has made it, so the kernel has
// it in memory.
bool IsPlaceholderInMemory(int directory, const std::string& path);

// The same of a name that was met in a directory. Names that do not begin with a dot, as those do that every sandbox
// protects, are looked at only when this process expects them: a look costs more than all the rest of a listing.
bool IsListedPlaceholder(int directory, const std::string& name);

// Tells this process, once and for all, that a sandbox may have placeholders of any name.
void ExpectPlaceholdersOfAnyName();

// Makes a placeholder the user's own, by the mode of something that was just made. The sandboxes that have made it keep
// what they have mounted over it, and no longer remove it. `kind` is S_IFDIR or S_IFREG. Returns 0; -ENOENT when there
// is no placeholder; -EBUSY when it is of the other kind, because it cannot be replaced under a running sandbox; or
// another -errno.
int AdoptPlaceholder(int directory, const std::string& path, mode_t kind, Links links = Links::kFollowToLast);

// Makes a directory; a placeholder becomes the directory that is asked for. Returns 0 or -errno.
int MakeDirectoryAt(int directory, const std::string& name, mode_t mode);

}  // namespace holdfast::sys
