#include "sys/read_link.h"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <climits>

namespace holdfast::sys {

Result<std::string> ReadLink(const std::string& path) { return ReadLinkAt(AT_FDCWD, path, path); }

Result<std::string> ReadLinkAt(int directory, const std::string& name, const std::string& path) {
  std::array<char, PATH_MAX> text;  // no link can have a longer text
  const ssize_t size = ::readlinkat(directory, name.c_str(), text.data(), text.size());
  if (size < 0) return FailErrno("readlink", path);
  return std::string(text.data(), static_cast<size_t>(size));
}

}  // namespace holdfast::sys
