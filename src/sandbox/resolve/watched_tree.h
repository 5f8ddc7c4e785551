// A WatchedTree knows by inotify that nothing has happened in the directories of a tree, so that a search for nested
// repositories in a large workspace need not look at each of them again. It begins to watch after several searches that
// have found nothing new, and ends at the first change; then each search looks at the directories, until it begins
// again. Several threads can use it at a time.
//
// The kernel reports a change before the call that makes it returns, so a command cannot hide one from a later search.
// What inotify does not see is checked in other ways: mounts by the list of mounts, another directory in the place of
// the top by its identity. Directories of file systems that other machines change are not watched, nor are those of
// protected names, because each sandbox makes and removes placeholders of these names in the top.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/mutex.h"
#include "sandbox/resolve/remembered_listing.h"
#include "sys/file_identity.h"
#include "sys/foreign_fd.h"
#include "sys/mount_changes.h"

namespace holdfast::sandbox {

// What a look for the `.git` in a directory finds.
enum class GitProbe { kNothing, kRepository, kClosed };
GitProbe ProbeForGit(int directory, const std::string& path);

class WatchedTree {
 public:
  struct Directory {
    std::string path;        // relative to the top
    ListingPointer listing;  // null for one that is only probed
  };
  struct Known {
    ListingPointer listing;
    GitProbe probe;
  };
  using KnownDirectories = std::unordered_map<std::string, Known>;

  // Returns whether a directory of this path may be watched. Others are looked at by each search.
  static bool MayWatch(std::string_view path);

  explicit WatchedTree(size_t searches_before) : searches_before_(searches_before) {}

  // Returns the watched directories if nothing has happened in them since, and null otherwise. `top` is open.
  std::shared_ptr<const KnownDirectories> Look(int top);

  // Returns whether the next search that finds nothing new has to say which directories it has looked at.
  bool IsAboutToWatch() const;

  // Takes note of a search that has ended. If it has found nothing new, the directories may be watched from now on.
  // They are in an order in which each comes after the one above it.
  void NoteUnchanged(int top, const std::vector<Directory>& looked_at);
  void NoteChanged();

 private:
  bool Watch(int top, const std::vector<Directory>& directories) REQUIRES(mutex_);
  int Add(int directory, uint32_t events) REQUIRES(mutex_);
  bool AddBelow(int top, const Directory& directory, KnownDirectories& known) REQUIRES(mutex_);
  bool IsQuiet(int top) REQUIRES(mutex_);
  void End() REQUIRES(mutex_);

  const size_t searches_before_;
  mutable Mutex mutex_;
  size_t unchanged_searches_ GUARDED_BY(mutex_) = 0;
  sys::ForeignFd inotify_ GUARDED_BY(mutex_);  // its close waits for the kernel, so another thread closes it
  int top_watch_ GUARDED_BY(mutex_) = -1;
  sys::FileIdentity top_ GUARDED_BY(mutex_) = {};
  std::optional<sys::MountChanges> mounts_ GUARDED_BY(mutex_);
  uint64_t mounts_before_ GUARDED_BY(mutex_) = 0;
  std::shared_ptr<const KnownDirectories> known_ GUARDED_BY(mutex_);  // null while nothing is watched
};

}  // namespace holdfast::sandbox
