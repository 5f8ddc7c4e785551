#include "sandbox/resolve/watched_tree.h"

#include <fcntl.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <optional>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "base/owned_fd.h"
#include "sandbox/resolve/protected_names.h"
#include "sys/io.h"
#include "sys/open.h"

namespace holdfast::sandbox {
namespace {

constexpr uint32_t kEntries = IN_CREATE | IN_DELETE | IN_MOVED_FROM | IN_MOVED_TO;
constexpr uint32_t kItself = IN_MOVE_SELF | IN_DELETE_SELF;

// The name of an event is padded with nul bytes.
std::string_view NameIn(const inotify_event& event) {
  return event.len == 0 ? std::string_view() : std::string_view(event.name);
}

// The listing of the top is looked at by each search. Its events tell only whether the directories in it are the same.
bool ChangesTop(const inotify_event& event) {
  if ((event.mask & kEntries) == 0) return true;
  return (event.mask & IN_ISDIR) != 0 && !IsProtectedName(NameIn(event));
}

// A change of the attributes of an entry is one of the directory only if the event is about the directory itself.
bool ChangesDirectory(const inotify_event& event) {
  return (event.mask & ~(IN_ATTRIB | IN_ISDIR)) != 0 || NameIn(event).empty();
}

}  // namespace

GitProbe ProbeForGit(int directory, const std::string& path) {
  const std::string git = path.empty() ? ".git" : path + "/.git";
  struct stat status{};
  if (::fstatat(directory, git.c_str(), &status, AT_SYMLINK_NOFOLLOW) == 0) return GitProbe::kRepository;
  return errno == EACCES ? GitProbe::kClosed : GitProbe::kNothing;
}

bool WatchedTree::MayWatch(std::string_view path) {
  return !path.empty() && !IsProtectedName(path.substr(0, path.find('/')));
}

std::shared_ptr<const WatchedTree::KnownDirectories> WatchedTree::Look(int top) {
  const MutexLock lock(mutex_);
  if (known_ && !IsQuiet(top)) End();
  return known_;
}

bool WatchedTree::IsAboutToWatch() const {
  const MutexLock lock(mutex_);
  return !known_ && unchanged_searches_ >= searches_before_;
}

void WatchedTree::NoteUnchanged(int top, const std::vector<Directory>& looked_at) {
  const MutexLock lock(mutex_);
  if (known_ || ++unchanged_searches_ <= searches_before_ || looked_at.empty()) return;
  if (!Watch(top, looked_at)) End();
}

void WatchedTree::NoteChanged() {
  const MutexLock lock(mutex_);
  End();
}

bool WatchedTree::Watch(int top, const std::vector<Directory>& directories) {
  const auto sight = LookAtDirectory(top, "");
  if (!sight || !KeepsChangeTimes(top)) return false;
  inotify_ = OwnedFd(::inotify_init1(IN_NONBLOCK | IN_CLOEXEC));
  mounts_before_ = mounts_.emplace().Count();
  top_ = sight->state.identity;
  top_watch_ = Add(top, kEntries | kItself);
  auto known = std::make_shared<KnownDirectories>();
  for (const Directory& directory : directories) {
    const std::string above = directory.path.substr(0, directory.path.rfind('/'));
    const bool is_top_above = above.size() == directory.path.size();
    if (!is_top_above && !known->contains(above)) continue;
    if (!AddBelow(top, directory, *known)) return false;
  }
  known_ = std::move(known);
  return IsQuiet(top);
}

int WatchedTree::Add(int directory, uint32_t events) {
  return ::inotify_add_watch(inotify_.get(), fmt::format("/proc/self/fd/{}", directory).c_str(), events);
}

// What is known of the directory is looked at once more after the watch has begun. Returns false if it has changed, or
// if the user has no watch left. A directory that cannot be watched is looked at by each search, and so is one that is
// also the top, by a mount.
bool WatchedTree::AddBelow(int top, const Directory& directory, KnownDirectories& known) {
  const int number = sys::TryOpenAt(top, directory.path, O_PATH | O_DIRECTORY, sys::Links::kNone);
  if (number < 0) return number == -EACCES;
  const OwnedFd opened(number);
  const auto before = LookAtDirectory(opened.get(), "");
  if (!before) return false;
  const sys::FileIdentity& identity = before->state.identity;
  if (before->is_encrypted || identity.device != top_.device || identity == top_) return true;
  if (Add(opened.get(), kEntries | kItself | IN_ATTRIB) < 0) return errno == EACCES;
  const auto sight = LookAtDirectory(opened.get(), "");
  if (!sight || (directory.listing && sight->state != directory.listing->state)) return false;
  known.emplace(directory.path, Known{.listing = directory.listing, .probe = ProbeForGit(opened.get(), "")});
  return true;
}

bool WatchedTree::IsQuiet(int top) {
  const auto sight = LookAtDirectory(top, "");
  if (!sight || sight->state.identity != top_ || top_watch_ < 0) return false;
  if (!mounts_ || mounts_->Count() != mounts_before_) return false;
  alignas(inotify_event) std::array<char, 4096> buffer;
  for (;;) {
    const ssize_t size = sys::Read(inotify_.get(), buffer.data(), buffer.size());
    if (size <= 0) return size == -EAGAIN;
    for (ssize_t at = 0; at < size;) {
      const auto& event = *reinterpret_cast<const inotify_event*>(buffer.data() + at);
      if (event.wd == top_watch_ ? ChangesTop(event) : ChangesDirectory(event)) return false;
      at += static_cast<ssize_t>(sizeof(inotify_event) + event.len);
    }
  }
}

void WatchedTree::End() {
  known_.reset();
  inotify_.Reset();
  mounts_.reset();
  unchanged_searches_ = 0;
}

}  // namespace holdfast::sandbox
