#include "base/result.h"

#include <cerrno>
#include <cstring>

#include <fmt/format.h>

namespace holdfast {
namespace {

ErrorKind KindOf(int errno_value) {
  switch (errno_value) {
    case ENOENT:
      return ErrorKind::kNotFound;
    case EACCES:
    case EPERM:
      return ErrorKind::kPermissionDenied;
    default:
      return ErrorKind::kSystem;
  }
}

}  // namespace

std::string ErrnoText(int errno_value) {
  const char* text = ::strerrordesc_np(errno_value);
  return text != nullptr ? text : fmt::format("errno {}", errno_value);
}

Error ErrnoError(std::string_view call, std::string_view object, int errno_value) {
  if (object.empty()) return {KindOf(errno_value), fmt::format("{}: {}", call, ErrnoText(errno_value))};
  return {KindOf(errno_value), fmt::format("{} {}: {}", call, object, ErrnoText(errno_value))};
}

}  // namespace holdfast
