#include "escalate/caller/path_walk.h"

#include <fcntl.h>
#include <linux/magic.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>
#include <cstddef>
#include <string_view>
#include <utility>

namespace holdfast::escalate {
namespace {

constexpr int kMaxLinks = 40;  // as in the kernel

OwnedFd Reopen(int directory) { return OwnedFd(::openat(directory, ".", O_PATH | O_CLOEXEC)); }

bool IsSameDirectory(int one, int other) {
  struct stat first, second;
  return ::fstat(one, &first) == 0 && ::fstat(other, &second) == 0 && first.st_dev == second.st_dev &&
         first.st_ino == second.st_ino;
}

// The links of /proc lead to what a process is or has open, whatever their text is. Only those to a file beside the
// directory of the process itself are plain ones, such as /proc/mounts.
bool LeadsToProcess(int link, std::string_view target) {
  struct statfs status;
  if (::fstatfs(link, &status) == 0 && status.f_type != PROC_SUPER_MAGIC) return false;
  return !target.starts_with("self/") && !target.starts_with("thread-self/");
}

}  // namespace

PathWalk::PathWalk(int root, std::string path, OwnedFd start)
    : root_(root), here_(path.starts_with('/') ? Reopen(root) : std::move(start)), rest_(std::move(path)) {}

// A slash behind the last name asks for a directory, as the name "." does.
std::string PathWalk::TakeName() {
  const size_t first = rest_.find_first_not_of('/');
  if (first == std::string::npos) return std::exchange(rest_, {}).empty() ? "" : ".";
  rest_.erase(0, first);
  std::string name = rest_.substr(0, rest_.find('/'));
  rest_.erase(0, name.size());
  return name;
}

OrErrno<PathWalk::Step> PathWalk::Go() {
  name_ = TakeName();
  if (name_.empty()) return Step::kEnd;
  if (name_ == "..") return GoUp();
  OwnedFd next(::openat(here_.get(), name_.c_str(), O_PATH | O_NOFOLLOW | O_CLOEXEC));
  struct stat status;
  if (!next.is_open() || ::fstat(next.get(), &status) != 0) return std::unexpected(errno);
  if (S_ISLNK(status.st_mode)) return Follow(next.get());
  here_ = std::move(next);
  return Step::kDown;
}

OrErrno<PathWalk::Step> PathWalk::GoUp() {
  if (IsSameDirectory(here_.get(), root_)) return Step::kUp;
  OwnedFd above(::openat(here_.get(), "..", O_PATH | O_CLOEXEC));
  if (!above.is_open()) return std::unexpected(errno);
  here_ = std::move(above);
  return Step::kUp;
}

OrErrno<PathWalk::Step> PathWalk::Follow(int link) {
  if (++links_ > kMaxLinks) return std::unexpected(ELOOP);
  std::array<char, PATH_MAX> target;
  const ssize_t size = ::readlinkat(link, "", target.data(), target.size());
  const int error = errno;
  const std::string_view text(target.data(), static_cast<size_t>(std::max<ssize_t>(size, 0)));
  if (LeadsToProcess(link, text)) return Step::kProcessLink;
  if (text.empty()) return std::unexpected(size < 0 ? error : ENOENT);
  if (text.starts_with('/')) here_ = Reopen(root_);
  rest_.insert(0, text);
  return Step::kLink;
}

}  // namespace holdfast::escalate
