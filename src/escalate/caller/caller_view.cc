#include "escalate/caller/caller_view.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <climits>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "base/owned_fd.h"
#include "base/parse_number.h"
#include "escalate/caller/path_walk.h"
#include "sys/open.h"

namespace holdfast::escalate {
namespace {

// Returns a word of the line with this name. The words of a line are separated by tabs.
std::string_view WordIn(std::string_view status, std::string_view name, size_t index = 0) {
  const size_t line = status.find(fmt::format("\n{}:\t", name));
  if (line == std::string_view::npos) return {};
  status = status.substr(line + name.size() + 3);
  status = status.substr(0, status.find('\n'));
  for (; index > 0; --index) {
    const size_t next = status.find('\t');
    if (next == std::string_view::npos) return {};
    status.remove_prefix(next + 1);
  }
  return status.substr(0, status.find('\t'));
}

OrErrno<std::string> ReadStatus(pid_t tid) {
  const OwnedFd file(::open(fmt::format("/proc/{}/status", tid).c_str(), O_RDONLY | O_CLOEXEC));
  if (!file.is_open()) return std::unexpected(errno == ENOENT ? ESRCH : errno);
  std::array<char, 8192> text;  // the lines that are used come early, before the lists of processors
  const ssize_t size = ::read(file.get(), text.data(), text.size());
  if (size < 0) return std::unexpected(errno);
  return std::string(text.data(), static_cast<size_t>(size));
}

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

OrErrno<CallerState> ReadCallerState(pid_t tid) {
  const auto status = ReadStatus(tid);
  if (!status) return std::unexpected(status.error());
  const auto process = ParseNumber<pid_t>(WordIn(*status, "Tgid"));
  const auto capabilities = ParseNumber<uint64_t>(WordIn(*status, "CapEff"), 16);
  const auto user = ParseNumber<uid_t>(WordIn(*status, "Uid", 3));
  if (!process || !capabilities || !user) return std::unexpected(ESRCH);
  return CallerState{.process = *process, .capabilities = *capabilities, .user = *user};
}

OrErrno<std::string> WorkingDirectoryOf(pid_t tid) { return LinkOf(tid, "cwd"); }

OrErrno<std::string> LinkOf(pid_t tid, const std::string& name) {
  std::array<char, PATH_MAX> path;
  const ssize_t size = ::readlink(fmt::format("/proc/{}/{}", tid, name).c_str(), path.data(), path.size());
  if (size < 0) return std::unexpected(errno);
  return std::string(path.data(), static_cast<size_t>(size));
}

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
