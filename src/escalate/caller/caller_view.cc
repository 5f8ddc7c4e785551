#include "escalate/caller/caller_view.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <climits>
#include <utility>

#include <fmt/format.h>

#include "escalate/caller/path_walk.h"
#include "sys/open.h"

namespace holdfast::escalate {
namespace {

// The kernel follows the link of a process that is not the one which looks.
OrErrno<OwnedFd> OpenTarget(int directory, const std::string& link) {
  OwnedFd target(::openat(directory, link.c_str(), O_PATH | O_CLOEXEC));
  if (!target.is_open()) return std::unexpected(errno);
  return target;
}

bool IsDeleted(int directory) {
  struct stat status;
  return ::fstat(directory, &status) == 0 && status.st_nlink == 0;
}

}  // namespace

OrErrno<CallerView> CallerView::Of(pid_t tid) {
  OwnedFd root(::open(fmt::format("/proc/{}/root", tid).c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  if (!root.is_open()) return std::unexpected(errno == EACCES ? EPERM : errno);
  return CallerView(tid, std::move(root));
}

OrErrno<OwnedFd> CallerView::OpenLink(const std::string& link) const {
  OwnedFd file(::open(fmt::format("/proc/{}/{}", tid_, link).c_str(), O_PATH | O_CLOEXEC));
  if (!file.is_open()) return std::unexpected(errno == ENOENT ? EBADF : errno);
  return file;
}

// The kernel makes the lookup at once, except for the links of processes, where it fails or finds those of this one.
OrErrno<FoundFile> CallerView::Find(const std::string& path, const std::string& directory) const {
  if (path.starts_with('/')) {
    OwnedFd file(sys::OpenInRoot(root_.get(), path, O_PATH));
    return file.is_open() ? OrErrno<FoundFile>(FoundFile{.file = std::move(file)}) : Walk(path, {});
  }
  auto start = OpenLink(directory);
  if (!start) return std::unexpected(start.error());
  if (path.empty()) return FoundFile{.file = *std::move(start), .through_process = true};
  const bool is_deleted = IsDeleted(start->get());
  auto found = Walk(path, *std::move(start));
  if (found && is_deleted) found->through_process = true;
  return found;
}

// Below the directory of the caller in the /proc of this process, a path that goes up could end in the directories of
// this process instead of those of the caller. Programs are not called by such a path.
OrErrno<FoundFile> CallerView::Walk(const std::string& path, OwnedFd start) const {
  using Step = PathWalk::Step;
  PathWalk walk(root_.get(), path, std::move(start));
  bool through_process = false, is_in_own_proc = false;
  for (;;) {
    const auto step = walk.Go();
    if (!step) return std::unexpected(step.error());
    if (*step == Step::kEnd) break;
    if (*step == Step::kUp && is_in_own_proc) return std::unexpected(EACCES);
    if (*step != Step::kProcessLink) continue;
    const bool is_self = walk.name() == "self" || walk.name() == "thread-self";
    auto target = is_self ? OpenLink(walk.name() == "self" ? "" : fmt::format("task/{}", tid_))
                          : OpenTarget(walk.here(), walk.name());
    if (!target) return std::unexpected(target.error());
    walk.Jump(*std::move(target));
    through_process = true;
    is_in_own_proc = is_self;
  }
  return FoundFile{.file = std::move(walk).TakePlace(), .through_process = through_process};
}

OrErrno<std::string> RealPathOf(int file) {
  std::array<char, PATH_MAX> path;
  const ssize_t size = ::readlink(fmt::format("/proc/self/fd/{}", file).c_str(), path.data(), path.size());
  if (size < 0) return std::unexpected(errno);
  return std::string(path.data(), static_cast<size_t>(size));
}

}  // namespace holdfast::escalate
