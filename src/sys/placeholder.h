// A placeholder is an empty directory or file that a sandbox has made under a protected name that is missing, so that
// something can be mounted over it (sandbox/jail/placeholders.h). It stands in the user's tree while the sandbox runs,
// and no file request of any client sees it: to them the name is missing.
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

// The descriptor, which may be O_PATH, is of a placeholder. Something in it makes it the user's own.
bool IsPlaceholder(int fd);

// A path in a directory, which may be AT_FDCWD, is that of a placeholder. A link is none unless links are followed.
bool IsPlaceholderAt(int directory, const std::string& path, Links links = Links::kFollowToLast);

// The same for a path whose mode is known already, which rules nearly all out.
inline bool IsPlaceholderOfMode(mode_t mode, int directory, const std::string& path, Links links) {
  return HasPlaceholderMode(mode) && IsPlaceholderAt(directory, path, links);
}

// A name that was met in a directory is that of a placeholder. Names without a dot in front, which every name has that
// each sandbox protects, are looked at only after ExpectPlaceholdersOfAnyName, because a look costs more than the rest
// of a listing; and no disk is asked about them: a placeholder in use is open in its sandbox, so the kernel has it in
// memory.
bool IsListedPlaceholder(int directory, const std::string& name);

// Placeholders of any name are expected by this process from here on.
void ExpectPlaceholdersOfAnyName();

// A placeholder becomes the user's own, with the permissions of `mode` less the umask. The sandboxes that have made it
// keep what they have mounted over it, and no longer remove it. The kind of file that is wanted stands in `mode` as
// well: S_IFDIR or S_IFREG. Returns 0; -ENOENT when there is no placeholder; -EBUSY when it is of the other kind,
// because it cannot be replaced under a running sandbox; or another -errno.
int AdoptPlaceholder(int directory, const std::string& path, mode_t mode, Links links = Links::kFollowToLast);

// A directory is made, or a placeholder becomes it. Returns 0 or -errno.
int MakeOrAdoptDirectory(int directory, const std::string& name, mode_t mode);

}  // namespace holdfast::sys
