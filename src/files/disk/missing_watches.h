// Waits for something to appear where nothing is, or to change where something is, by inotify: every directory on the
// way to a path is watched for the next name in it, as far down as there are directories. What has happened is not
// said, and a change nearby may count as one: the client looks again. The placeholders of sandboxes, which come and
// go, are nothing.
//
// One inotify instance serves all watches, because a user has few of them. A watch lives from Prepare to its first
// change, or to Remove. Keys are the caller's, one for each watch.
//
// Every call may come from any thread. Prepare looks up paths, which takes as long as a file system likes, and holds up
// none of the others meanwhile; they do not block.
//
// Not seen: mounts, and what is written through mmap.
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
  static constexpr size_t kMaxNames = 256;  // on the ways to all paths of one watch

  // Shared, because a Prepare that is stuck in a file system may outlast everybody else.
  static Result<std::shared_ptr<MissingWatches>> Create();

  // Readable when TakeChanged has something to read.
  int fd() const { return inotify_.get(); }

  // False when there is nothing to wait for, or no way to: none is missing, or one of them exists, be it as a link that
  // points nowhere; `present` is given and does not exist, or is a link; a way leads through a link or a file, is too
  // long, ends where nobody may look, or passes a file system that inotify does not see. Only after true is the key in
  // use.
  Result<bool> Prepare(uint64_t key, const std::vector<std::string>& missing,
                       const std::optional<std::string>& present);

  // After Prepare: from here on TakeChanged may name the key. False, and the key no longer in use, when something has
  // changed already.
  bool Start(uint64_t key);

  // Does nothing when the key is not in use.
  void Remove(uint64_t key);

  // The watches that have seen a change, whose keys are no longer in use. Reads one buffer's worth of events: there is
  // more as long as the descriptor is readable.
  Result<std::vector<uint64_t>> TakeChanged();

 private:
  using Keys = std::vector<uint64_t>;
  struct Watch {
    bool is_started = false, has_changed = false;
    std::vector<std::pair<int, std::string>> names;  // with the watch descriptor of the directory
    std::set<std::string> missing;                   // the first name of each path that is not there, as a path
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
  Mutex mutex_;  // never held while anything but memory is asked about a path
  std::unordered_map<uint64_t, Watch> watches_ GUARDED_BY(mutex_);
  // Who wants to know, by watch descriptor and name. A file that is watched itself has the name "".
  std::unordered_map<int, Directory> directories_ GUARDED_BY(mutex_);
};

}  // namespace holdfast::files
