// A remembered directory is what a walk has found in one directory, for a later walk of the same tree. The later walk
// looks at the state of the directory, and reads it again only if the state is another one. Remembered directories are
// never changed, so that several threads can walk by the same ones at a time.
//
// A command that may write a directory can set its modification time, but not its change time, so the state has the
// change time.
//
// What the state does not show: a change after the system clock was set so that the same nanosecond came again, and a
// change past the mounted file system, which is one of the disk itself or of a layer of an overlay.
#pragma once

#include <cstddef>
#include <cstdint>
#include <ctime>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "sys/file_identity.h"

namespace holdfast::sandbox {

struct DirectoryState {
  sys::FileIdentity identity = {};
  int64_t changed_s = 0;
  uint32_t changed_ns = 0;

  friend bool operator==(const DirectoryState&, const DirectoryState&) = default;
};

struct DirectorySight {
  DirectoryState state;
  bool is_encrypted;  // the names in it depend on whether the kernel has the key, and the state does not show that
};

// Looks at the directory `path` relative to the open directory `from`; an empty path is `from` itself. Absent if it
// cannot be looked at, is not a directory, or has no change time. A link is followed on the way, but not at the end.
std::optional<DirectorySight> LookAtDirectory(int from, const char* path);

// Returns whether the file system of an open directory sets the change time of a directory at every change of its
// listing, by the clock of this machine. Of those on which another machine or a process makes the changes (NFS, FUSE
// and the like) it is not known.
bool KeepsChangeTimes(int directory);

// Returns whether a change that is made from `now` on will get another change time than `state` has. The clock of file
// systems is coarse, and some of them store whole seconds: a recent change time may also be that of the next change.
bool IsSettled(const DirectoryState& state, const timespec& now);

struct RememberedDirectory {
  DirectoryState state = {};        // from before the directory was read
  bool keeps_change_times = false;  // of the file system
  bool is_trusted = false;          // while the state is the same, so is the listing
  uint32_t visitors = 0;         // a bit for each visitor of the walk that had entered the directory when it was read
  std::string directories = {};  // the names of the directories in it, with a nul byte behind each
  std::string entries = {};      // the entries that a visitor has sought: kind, name, and a nul byte for each
  std::vector<std::shared_ptr<const RememberedDirectory>> children = {};  // for each of `directories`; may be null

  // Returns the memory that it takes, without its children.
  size_t bytes() const;
};

// Looks at an open directory that is about to be read, and returns what is known of it before: `state`,
// `keeps_change_times` and `is_trusted`. `parent` is the directory above it, or null; `now` is the time before the
// call.
RememberedDirectory LookBeforeReading(int directory, const RememberedDirectory* parent, const timespec& now);

using RememberedPointer = std::shared_ptr<const RememberedDirectory>;

}  // namespace holdfast::sandbox
