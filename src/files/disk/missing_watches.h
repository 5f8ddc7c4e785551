// Watches that wait by inotify until a missing path appears, or an existing one changes. Every directory on the way to
// a path is watched for the next name in it, as far down as there are directories. A watch does not say what has
// happened, and a change near the path may count too: the client looks again. The placeholders of sandboxes, which come
// and go, count as missing.
//
// One inotify instance serves all watches, because a user may have only few of them. A watch exists from Prepare to its
// first change, or to Remove. The caller chooses the keys, one for each watch.
//
// Any thread may call any function. Prepare looks up paths, which may take any time on a slow file system, but it does
// not hold up other calls meanwhile. The other functions do not block.
//
// What it does not see: mounts, and writes through mmap.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/mutex.h"
#include "base/owned_fd.h"
#include "base/result.h"

namespace holdfast::files {

class MissingWatches {
 public:
  static constexpr size_t kMaxNames = 256;  // the most names on the ways to all paths of one watch

  // The object is shared, because a call of Prepare that is stuck in a file system may outlive all other owners.
  static Result<std::shared_ptr<MissingWatches>> Create();

  // The descriptor is readable when TakeChanged has something to read.
  int fd() const { return inotify_.get(); }

  // Sets up a watch for paths that are missing and, if `present` is set, for one that exists. The key is in use only if
  // the result is true. The result is false if there is nothing to wait for, or if it is not possible to wait:
  // - `missing` is empty, or one of its paths exists, even if only as a link that points to nothing.
  // - `present` is set and does not exist, or is a link.
  // - A path leads through a link or a file, is too long, ends in a directory that may not be read, or passes a file
  //   system whose changes inotify does not see.
  Result<bool> Prepare(uint64_t key, const std::vector<std::string>& missing,
                       const std::optional<std::string>& present);

  // Starts a watch after Prepare. From here on TakeChanged may return its key. If something has changed already, the
  // result is false, and the key is no longer in use.
  bool Start(uint64_t key);

  // Ends a watch. A key that is not in use is ignored.
  void Remove(uint64_t key);

  // Returns the keys of the watches that have seen a change; these keys are no longer in use. One call reads one buffer
  // of events, and there are more as long as the descriptor is readable.
  Result<std::vector<uint64_t>> TakeChanged();

 private:
  using Keys = std::vector<uint64_t>;
  struct Watch {
    bool is_started = false, has_changed = false;
    std::vector<std::pair<int, std::string>> names;  // each with the inotify watch descriptor of its directory
    std::set<std::string> missing;                   // for each path, the part up to its first missing name
  };
  struct Directory {
    std::string path;
    std::unordered_map<std::string, std::set<uint64_t>> names;
  };
  enum class Found { kNothing, kFile, kOther, kUnwatchable };

  explicit MissingWatches(OwnedFd inotify) : inotify_(std::move(inotify)) {}

  Result<bool> Arm(uint64_t key, const std::vector<std::string>& missing, const std::optional<std::string>& present);
  Result<Found> ArmPath(uint64_t key, const std::string& path);
  Result<bool> ArmFile(uint64_t key, const std::string& path);
  int WatchName(uint64_t key, const std::string& watched, const std::string& name, uint32_t events);
  int AddWatch(uint64_t key, const std::string& watched, const std::string& name, uint32_t events);
  bool Note(uint64_t key, int descriptor, const std::string& watched, const std::string& name) REQUIRES(mutex_);
  Found NoteMissing(uint64_t key, const std::string& path);
  void Notice(int descriptor, uint32_t events, std::string_view name, Keys& changed) REQUIRES(mutex_);
  void MarkChanged(const Keys& keys, Keys& changed) REQUIRES(mutex_);
  Watch& WatchOf(uint64_t key) REQUIRES(mutex_);
  void Forget(uint64_t key) REQUIRES(mutex_);

  const OwnedFd inotify_;
  Mutex mutex_;  // never held during a look-up of a path that may block
  std::unordered_map<uint64_t, Watch> watches_ GUARDED_BY(mutex_);
  // The keys of the watches to notify, by inotify watch descriptor and name. A file that is watched itself has the name
  // "".
  std::unordered_map<int, Directory> directories_ GUARDED_BY(mutex_);
};

}  // namespace holdfast::files
