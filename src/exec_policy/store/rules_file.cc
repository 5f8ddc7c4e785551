#include "exec_policy/store/rules_file.h"

#include <fcntl.h>
#include <linux/magic.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <ctime>
#include <utility>

#include <fmt/format.h>

#include "starlark/budget.h"
#include "sys/open.h"
#include "sys/read_to_end.h"

namespace holdfast::exec_policy {
namespace {

std::chrono::nanoseconds TimeOf(const timespec& time) {
  return std::chrono::seconds(time.tv_sec) + std::chrono::nanoseconds(time.tv_nsec);
}

}  // namespace

Result<> CheckTrust(const std::string& path, const struct stat& status) {
  if (status.st_uid != ::geteuid() && status.st_uid != 0) {
    return Fail(
        ErrorKind::kPermissionDenied,
        fmt::format("{} belongs to another user, so its rules are not trusted; it has to belong to the user who "
                    "runs holdfast, or to root",
                    path));
  }
  const bool has_private_group = status.st_gid == status.st_uid;
  if ((status.st_mode & (has_private_group ? S_IWOTH : S_IWGRP | S_IWOTH)) == 0) return {};
  return Fail(
      ErrorKind::kPermissionDenied,
      fmt::format("{} can be written by other users, so its rules are not trusted; run chmod go-w {}", path, path));
}

Result<std::string> ReadText(int fd, const std::string& path) {
  return sys::ReadToEnd(fd, starlark::Limits{}.text_bytes, path);
}

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
