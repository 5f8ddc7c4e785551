#include "exec_policy/store/trust.h"

#include <unistd.h>

#include <fmt/format.h>

namespace holdfast::exec_policy {

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

}  // namespace holdfast::exec_policy
