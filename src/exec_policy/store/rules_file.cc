#include "exec_policy/store/rules_file.h"

#include <fcntl.h>
#include <linux/magic.h>
#include <sys/stat.h>
#include <sys/vfs.h>

#include <ctime>
#include <utility>

#include <fmt/format.h>

#include "sys/open.h"

namespace holdfast::exec_policy {
namespace {

std::chrono::nanoseconds TimeOf(const timespec& time) {
  return std::chrono::seconds(time.tv_sec) + std::chrono::nanoseconds(time.tv_nsec);
}

}  // namespace

Result<RulesFile> RulesFile::Open(const std::string& path) {
  TRY(OwnedFd fd, sys::OpenAt(AT_FDCWD, path, O_RDONLY | O_NONBLOCK, sys::Links::kFollow));
  struct stat status;
  if (::fstat(fd.get(), &status) < 0) return FailErrno("stat", path);
  if (!S_ISREG(status.st_mode)) return Fail(ErrorKind::kInvalidParams, fmt::format("{} is not a regular file", path));
  struct statfs file_system;
  if (::fstatfs(fd.get(), &file_system) < 0) return FailErrno("statfs", path);
  if (file_system.f_type == PROC_SUPER_MAGIC) {
    return Fail(ErrorKind::kInvalidParams, fmt::format("{} is a file of /proc, and not a rules file", path));
  }
  FileState state{.path = path,
                  .identity = sys::FileIdentity::Of(status),
                  .size = status.st_size,
                  .modified = TimeOf(status.st_mtim),
                  .changed = TimeOf(status.st_ctim)};
  return RulesFile{.fd = std::move(fd), .state = std::move(state)};
}

}  // namespace holdfast::exec_policy
