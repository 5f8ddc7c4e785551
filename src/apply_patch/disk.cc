#include "apply_patch/disk.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include <fmt/format.h>

#include "sys/io.h"
#include "sys/open.h"

namespace holdfast::apply_patch {
namespace {

std::unexpected<Error> CallFailed(std::string_view call, const std::string& path, int errno_value) {
  return FailErrno(call, path, errno_value);
}

// Reads some bytes, and waits for them if necessary: standard input may be a pipe that another process has made
// non-blocking.
ssize_t ReadSome(int fd, char* buffer, size_t size) {
  for (;;) {
    const ssize_t n = sys::Read(fd, buffer, size);
    if (n != -EAGAIN) return n;
    pollfd readable = {fd, POLLIN, 0};
    (void)::poll(&readable, 1, -1);  // if the wait fails, the next read returns the error
  }
}

}  // namespace

Result<OwnedFd> OpenRegular(const std::string& path, int flags, const sys::FileIdentity& expected) {
  TRY(OwnedFd fd, sys::OpenAt(AT_FDCWD, path, flags | O_NONBLOCK, sys::Links::kFollow));
  struct stat status;
  if (::fstat(fd.get(), &status) < 0) return CallFailed("fstat", path, errno);
  if (S_ISREG(status.st_mode) && sys::FileIdentity::Of(status) == expected) return fd;
  return Fail(ErrorKind::kSystem, fmt::format("open {}: another program has replaced the file", path));
}

Result<std::string> ReadToEnd(int fd, const std::string& path) {
  struct stat status;
  if (::fstat(fd, &status) < 0) return CallFailed("fstat", path, errno);
  std::string text;
  // The first piece has room for one byte more than the file, so that the end of the file needs no second piece.
  size_t piece = std::max<size_t>(static_cast<size_t>(status.st_size) + 1, 64u << 10);
  for (;;) {
    const size_t before = text.size();
    ssize_t n = 0;
    text.resize_and_overwrite(before + piece, [&](char* buffer, size_t) {
      n = ReadSome(fd, buffer + before, piece);
      return before + static_cast<size_t>(std::max<ssize_t>(n, 0));
    });
    if (n < 0) return CallFailed("read", path, static_cast<int>(-n));
    if (n == 0) return text;
    piece = std::max<size_t>(64u << 10, text.size() / 2);
  }
}

Result<> Overwrite(int fd, const std::string& path, std::string_view content) {
  for (std::string_view rest = content; !rest.empty();) {
    const ssize_t n = sys::Write(fd, rest.data(), rest.size());
    if (n < 0) return CallFailed("write", path, static_cast<int>(-n));
    rest.remove_prefix(static_cast<size_t>(n));
  }
  while (::ftruncate(fd, static_cast<off_t>(content.size())) < 0) {
    if (errno != EINTR) return CallFailed("ftruncate", path, errno);
  }
  return {};
}

Result<> Close(OwnedFd fd, const std::string& path) {
  if (::close(fd.Release()) < 0 && errno != EINTR) return CallFailed("close", path, errno);
  return {};
}

}  // namespace holdfast::apply_patch
