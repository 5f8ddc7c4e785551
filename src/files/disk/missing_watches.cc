#include "files/disk/missing_watches.h"

#include <fcntl.h>
#include <linux/magic.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <sys/vfs.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

#include <fmt/format.h>

#include "base/check.h"
#include "sys/io.h"
#include "sys/open.h"
#include "sys/placeholder.h"

namespace holdfast::files {
namespace {

constexpr uint32_t kDirectoryEvents =
    IN_CREATE | IN_DELETE | IN_MOVED_FROM | IN_MOVED_TO | IN_ATTRIB | IN_DELETE_SELF | IN_MOVE_SELF | IN_ONLYDIR;
constexpr uint32_t kFileEvents = IN_MODIFY;

// IN_MASK_ADD is needed because the same directory may already be watched for other watches.
constexpr uint32_t kHow = IN_DONT_FOLLOW | IN_MASK_ADD;

// Returns whether names come and go on this type of file system without a notice to inotify. This is so on the virtual
// file systems of the kernel, and on those that other machines or processes change too.
bool IsBlind(uint32_t file_system) {
  constexpr uint32_t kCephMagic = 0x00c36400, kLustreMagic = 0x0bd00bd0, kGpfsMagic = 0x47504653;
  switch (file_system) {
    case PROC_SUPER_MAGIC:
    case SYSFS_MAGIC:
    case DEBUGFS_MAGIC:
    case TRACEFS_MAGIC:
    case CGROUP_SUPER_MAGIC:
    case CGROUP2_SUPER_MAGIC:
    case NFS_SUPER_MAGIC:
    case SMB_SUPER_MAGIC:
    case CIFS_SUPER_MAGIC:
    case SMB2_SUPER_MAGIC:
    case FUSE_SUPER_MAGIC:
    case V9FS_MAGIC:
    case AFS_SUPER_MAGIC:
    case AFS_FS_MAGIC:
    case CODA_SUPER_MAGIC:
    case kCephMagic:
    case kLustreMagic:
    case kGpfsMagic:
      return true;
    default:
      return false;
  }
}

// Returns whether an errno means that a path cannot be watched, rather than that the call has failed.
bool MeansUnwatchable(int errno_value) {
  switch (errno_value) {
    case ENOTDIR:
    case ELOOP:
    case ENAMETOOLONG:
    case EOPNOTSUPP:
    case E2BIG:
    case EACCES:
      return true;
    default:
      return false;
  }
}

// Returns whether a path has the mode of a placeholder. This must not block, so only the mode is looked at, and only if
// the kernel has it in memory. In case of doubt the result is false, and the path counts as changed.
bool LooksLikePlaceholder(const std::string& path) {
  const OwnedFd fd(sys::OpenCached(path, O_PATH, sys::Links::kFollowToLast));
  struct stat status;
  return fd.is_open() && ::fstat(fd.get(), &status) == 0 && sys::HasPlaceholderMode(status.st_mode);
}

Error WatchError(const std::string& path, int errno_value) {
  if (errno_value != ENOSPC) return ErrnoError("inotify_add_watch", path, errno_value);
  return {ErrorKind::kLimit,
          fmt::format("inotify_add_watch {}: the user has no watches left (fs.inotify.max_user_watches)", path)};
}

}  // namespace

Result<std::shared_ptr<MissingWatches>> MissingWatches::Create() {
  OwnedFd inotify(::inotify_init1(IN_CLOEXEC | IN_NONBLOCK));
  if (!inotify.is_open() && errno == EMFILE) {
    return Fail(ErrorKind::kLimit, "inotify_init1: no descriptor or no instance left (fs.inotify.max_user_instances)");
  }
  if (!inotify.is_open()) return FailErrno("inotify_init1");
  return std::shared_ptr<MissingWatches>(new MissingWatches(std::move(inotify)));
}

Result<bool> MissingWatches::Prepare(uint64_t key, const std::vector<std::string>& missing,
                                     const std::optional<std::string>& present) {
  {
    const MutexLock lock(mutex_);
    CHECK(watches_.try_emplace(key).second);
  }
  Result<bool> armed = Arm(key, missing, present);
  const MutexLock lock(mutex_);
  if (armed && WatchOf(key).has_changed) armed = false;
  if (!armed || !*armed) Forget(key);
  return armed;
}

Result<bool> MissingWatches::Arm(uint64_t key, const std::vector<std::string>& missing,
                                 const std::optional<std::string>& present) {
  for (const std::string& path : missing) {
    TRY(const Found found, ArmPath(key, path));
    if (found != Found::kNothing) return false;
  }
  if (missing.empty()) return false;
  if (!present) return true;
  TRY(const Found found, ArmPath(key, *present));
  if (found != Found::kFile) return found == Found::kOther;
  return ArmFile(key, *present);
}

// Watches a file itself. The watch of its directory shows when the file is replaced, but not when it is written,
// because events for every write in the directory would be too many.
Result<bool> MissingWatches::ArmFile(uint64_t key, const std::string& path) {
  int failed = WatchName(key, path, "", kFileEvents);
  if (failed == -EACCES) {
    // A user who may not read the file may still be allowed to read its directory.
    const size_t slash = path.rfind('/');
    failed = WatchName(key, path.substr(0, slash + 1), path.substr(slash + 1), kDirectoryEvents | IN_MODIFY);
  }
  if (failed == 0) return true;
  if (failed == -ENOENT || MeansUnwatchable(-failed)) return false;
  return std::unexpected(WatchError(path, -failed));
}

// Watches the way to a path, from the root on, and looks for the path only afterwards. So a change before the look is
// found by the look, and a change after it is seen by the watch.
Result<MissingWatches::Found> MissingWatches::ArmPath(uint64_t key, const std::string& path) {
  bool is_watched = true;  // whether the directory of the last step is watched
  for (size_t slash = 0; slash + 1 < path.size();) {
    const size_t end = std::min(path.find('/', slash + 1), path.size());
    const std::string directory = slash == 0 ? "/" : path.substr(0, slash);
    const bool is_placeholder = slash != 0 && sys::IsPlaceholderAt(AT_FDCWD, directory);
    const int failed =
        is_placeholder ? -ENOENT : WatchName(key, directory, path.substr(slash + 1, end - slash - 1), kDirectoryEvents);
    if (failed == -ENOENT) return is_watched ? NoteMissing(key, directory) : Found::kUnwatchable;
    is_watched = failed == 0;
    // A process may be allowed to pass through a directory that it may not read and therefore not watch.
    if (is_watched || failed == -EACCES) {
      slash = end;
      continue;
    }
    if (MeansUnwatchable(-failed)) return Found::kUnwatchable;
    return std::unexpected(WatchError(directory, -failed));
  }
  struct stat status;
  if (::lstat(path.c_str(), &status) < 0) {
    if (errno == ENOENT && is_watched) return NoteMissing(key, path);
    if (errno == ENOENT || MeansUnwatchable(errno)) return Found::kUnwatchable;
    return FailErrno("lstat", path);
  }
  if (!is_watched || S_ISLNK(status.st_mode)) return Found::kUnwatchable;
  if (sys::IsPlaceholderAt(AT_FDCWD, path)) return NoteMissing(key, path);
  return S_ISREG(status.st_mode) ? Found::kFile : Found::kOther;
}

// Watches a name in a directory, or a file itself with the name "". Returns 0 or -errno.
int MissingWatches::WatchName(uint64_t key, const std::string& watched, const std::string& name, uint32_t events) {
  if (const int failed = AddWatch(key, watched, name, events)) return failed;
  // IN_DONT_FOLLOW has made sure that `watched` is not a link, so statfs does not look at the target of one.
  struct statfs file_system;
  if (::statfs(watched.c_str(), &file_system) < 0) return -errno;
  return IsBlind(static_cast<uint32_t>(file_system.f_type)) ? -EOPNOTSUPP : 0;
}

// Adds an inotify watch. Between the kernel's answer and the call of Note the watch descriptor may become invalid,
// because the last other watch that shares it is removed, or because the watched file is. Once it is noted, the removal
// of other watches does not end it. So the call is repeated until it returns the descriptor that was noted.
int MissingWatches::AddWatch(uint64_t key, const std::string& watched, const std::string& name, uint32_t events) {
  for (int noted = -1;;) {
    const int descriptor = ::inotify_add_watch(inotify_.get(), watched.c_str(), events | kHow);
    if (descriptor < 0) return -errno;
    if (descriptor == noted) return 0;
    const MutexLock lock(mutex_);
    if (!Note(key, descriptor, watched, name)) return -E2BIG;
    noted = descriptor;
  }
}

// Stores the watch descriptor and the name. Returns false if the watch has too many names.
bool MissingWatches::Note(uint64_t key, int descriptor, const std::string& watched, const std::string& name) {
  Watch& watch = WatchOf(key);
  Directory& directory = directories_[descriptor];
  directory.path = watched;
  if (!directory.names[name].insert(key).second) return true;
  watch.names.emplace_back(descriptor, name);
  return watch.names.size() <= kMaxNames;
}

MissingWatches::Found MissingWatches::NoteMissing(uint64_t key, const std::string& path) {
  const MutexLock lock(mutex_);
  WatchOf(key).missing.insert(path);
  return Found::kNothing;
}

bool MissingWatches::Start(uint64_t key) {
  const MutexLock lock(mutex_);
  Watch& watch = WatchOf(key);
  watch.is_started = true;
  if (!watch.has_changed) return true;
  Forget(key);
  return false;
}

void MissingWatches::Remove(uint64_t key) {
  const MutexLock lock(mutex_);
  Forget(key);
}

Result<std::vector<uint64_t>> MissingWatches::TakeChanged() {
  std::array<char, 16u << 10> buffer;
  const ssize_t n = sys::Read(inotify_.get(), buffer.data(), buffer.size());
  if (n == -EAGAIN) return Keys{};
  if (n < 0) return FailErrno("read", "inotify", static_cast<int>(-n));
  Keys changed;
  const MutexLock lock(mutex_);
  for (size_t at = 0; at < static_cast<size_t>(n);) {
    inotify_event event;
    std::memcpy(&event, buffer.data() + at, sizeof event);
    at += sizeof event;
    // The name is padded with NUL bytes.
    Notice(event.wd, event.mask, {buffer.data() + at, ::strnlen(buffer.data() + at, event.len)}, changed);
    at += event.len;
  }
  return changed;
}

void MissingWatches::Notice(int descriptor, uint32_t events, std::string_view name, Keys& changed) {
  Keys concerned;
  if ((events & IN_Q_OVERFLOW) != 0) {
    // The kernel has dropped events, so anything may have happened.
    for (const auto& [key, watch] : watches_) concerned.push_back(key);
    return MarkChanged(concerned, changed);
  }
  const auto found = directories_.find(descriptor);
  if (found == directories_.end()) return;
  if ((events & IN_IGNORED) != 0) {
    // The end of an inotify watch is not a change by itself. If the kernel ended it, an event before this one said why.
    // If Forget ended it just before a Prepare noted it, that Prepare asks for another one.
    directories_.erase(found);
    return;
  }
  const auto& [path, names] = found->second;
  if (name.empty()) {
    // The event is about the directory itself, or about the watched file.
    for (const auto& [any, keys] : names) concerned.insert(concerned.end(), keys.begin(), keys.end());
  } else if (const auto keys = names.find(std::string(name)); keys != names.end()) {
    concerned.assign(keys->second.begin(), keys->second.end());
    const std::string place = (path == "/" ? "" : path) + "/" + keys->first;
    // A missing name is still missing when a placeholder has come there or has gone.
    if ((events & (IN_DELETE | IN_MOVED_FROM)) != 0 || LooksLikePlaceholder(place)) {
      std::erase_if(concerned, [&](uint64_t key) REQUIRES(mutex_) { return WatchOf(key).missing.contains(place); });
    }
  }
  MarkChanged(concerned, changed);
}

void MissingWatches::MarkChanged(const Keys& keys, Keys& changed) {
  for (const uint64_t key : keys) {
    const auto found = watches_.find(key);
    if (found == watches_.end()) continue;
    found->second.has_changed = true;
    if (!found->second.is_started) continue;
    changed.push_back(key);
    Forget(key);
  }
}

MissingWatches::Watch& MissingWatches::WatchOf(uint64_t key) {
  const auto found = watches_.find(key);
  CHECK(found != watches_.end());
  return found->second;
}

void MissingWatches::Forget(uint64_t key) {
  const auto watch = watches_.extract(key);
  if (!watch) return;
  for (const auto& [descriptor, name] : watch.mapped().names) {
    const auto directory = directories_.find(descriptor);
    if (directory == directories_.end()) continue;
    auto& names = directory->second.names;
    const auto keys = names.find(name);
    keys->second.erase(key);
    if (!keys->second.empty()) continue;
    names.erase(keys);
    if (!names.empty()) continue;
    directories_.erase(directory);
    (void)::inotify_rm_watch(inotify_.get(), descriptor);  // the kernel may have ended it already
  }
}

}  // namespace holdfast::files
