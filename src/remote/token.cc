#include "remote/token.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <optional>

#include <fmt/format.h>

#include "base/owned_fd.h"
#include "http/syntax.h"
#include "sys/io.h"
#include "sys/open.h"

namespace holdfast::remote {
namespace {

constexpr size_t kMaxTokenBytes = 16u << 10;

// The kernel shows the memory in which a process got its environment as /proc/PID/environ, even after unsetenv.
std::optional<std::string> TakeVariable(const char* name) {
  char* const value = std::getenv(name);
  if (value == nullptr) return std::nullopt;
  std::string taken = value;
  ::explicit_bzero(value, std::strlen(value));
  (void)::unsetenv(name);  // it fails only for a name that is empty or has a `=`
  return taken;
}

Result<> CheckOwnership(int fd, const std::string& path) {
  struct stat status{};
  if (::fstat(fd, &status) < 0) return FailErrno("stat", path);
  if (!S_ISREG(status.st_mode)) return Fail(ErrorKind::kInvalidParams, path + " is not a regular file");
  if (status.st_uid != ::geteuid() && status.st_uid != 0) {
    return Fail(ErrorKind::kPermissionDenied, path + " belongs to another user");
  }
  if ((status.st_mode & (S_IWGRP | S_IWOTH)) != 0) {
    return Fail(ErrorKind::kPermissionDenied, path + " can be changed by other users (chmod go-w)");
  }
  if ((status.st_mode & S_IROTH) != 0) {
    return Fail(ErrorKind::kPermissionDenied, path + " can be read by every user (chmod o-r)");
  }
  return {};
}

Result<std::string> ReadTokenFile(const std::string& path) {
  TRY(const OwnedFd fd, sys::OpenAt(AT_FDCWD, path, O_RDONLY | O_NONBLOCK, sys::Links::kFollow));
  TRY_VOID(CheckOwnership(fd.get(), path));
  std::string text;
  std::array<char, 4096> block;
  for (;;) {
    const ssize_t count = sys::Read(fd.get(), block.data(), block.size());
    if (count < 0) return FailErrno("read", path, static_cast<int>(-count));
    if (count == 0) return text;
    text.append(block.data(), static_cast<size_t>(count));
    if (text.size() > kMaxTokenBytes) {
      return Fail(ErrorKind::kLimit, fmt::format("{} is longer than {} bytes", path, kMaxTokenBytes));
    }
  }
}

}  // namespace

Result<TokenSource> TakeTokenSource(std::string_view noun) {
  TokenSource source;
  const auto token = TakeVariable(kTokenVariable);
  const auto file = TakeVariable(kTokenFileVariable);
  source.token = token.value_or("");
  if (!token) source.file = file.value_or("");
  if (!source.file.empty() || !http::Trimmed(source.token).empty()) return source;
  return Fail(ErrorKind::kInvalidParams,
              fmt::format("{} registry authentication error: {} registry bearer token environment variable `{}` is {}",
                          noun, noun, kTokenVariable, token ? "empty" : "not set"));
}

// One byte is read at a time: what follows the line belongs to others.
Result<TokenSource> ReadTokenLine(int fd) {
  (void)TakeVariable(kTokenVariable);
  (void)TakeVariable(kTokenFileVariable);
  TokenSource source;
  for (char c = 0;;) {
    const ssize_t count = sys::Read(fd, &c, 1);
    if (count == -EAGAIN) {  // the starter of this process may have made its end of the pipe non-blocking
      pollfd readable{.fd = fd, .events = POLLIN, .revents = 0};
      (void)::poll(&readable, 1, -1);  // after a failure the descriptor is read again
      continue;
    }
    if (count < 0) return FailErrno("read the bearer token", {}, static_cast<int>(-count));
    if (count == 0) return Fail(ErrorKind::kInvalidParams, "standard input ends before the line of the bearer token");
    if (c == '\n') break;
    if (source.token.size() == kMaxTokenBytes) {
      return Fail(ErrorKind::kLimit, fmt::format("the bearer token is longer than {} bytes", kMaxTokenBytes));
    }
    source.token += c;
  }
  TRY_VOID(ReadToken(source));
  return source;
}

Result<std::string> ReadToken(const TokenSource& source) {
  const std::string origin = source.file.empty() ? "the bearer token" : source.file;
  std::string text = source.token;
  if (!source.file.empty()) {
    TRY(text, ReadTokenFile(source.file));
  }
  std::string token(http::Trimmed(text));
  if (token.empty()) return Fail(ErrorKind::kInvalidParams, fmt::format("{} is empty", origin));
  if (!std::ranges::all_of(token, [](char c) { return c >= ' ' && c < 0x7f; })) {
    return Fail(ErrorKind::kInvalidParams, fmt::format("{} has characters that HTTP does not allow", origin));
  }
  return token;
}

}  // namespace holdfast::remote
