#include "auth/secret_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "base/log.h"
#include "sys/io.h"
#include "sys/open.h"

namespace holdfast::auth {
namespace {

std::unexpected<Error> Refuse(const std::string& path, std::string_view reason) {
  return Fail(ErrorKind::kInvalidParams, fmt::format("read {}: {}", path, reason));
}

Result<> CheckStatus(const std::string& path, const struct stat& status) {
  if (!S_ISREG(status.st_mode)) return Refuse(path, "it is not a regular file");
  if (status.st_uid != ::geteuid() && status.st_uid != 0) return Refuse(path, "it belongs to another user (chown)");
  if ((status.st_mode & (S_IWGRP | S_IWOTH)) != 0) return Refuse(path, "other users may change it (chmod go-w)");
  return {};
}

Result<std::string> ReadText(int fd, const std::string& path, size_t max_bytes) {
  std::string text(max_bytes + 1, '\0');
  size_t filled = 0;
  while (filled < text.size()) {
    const ssize_t got = sys::Read(fd, text.data() + filled, text.size() - filled);
    if (got < 0) return FailErrno("read", path, static_cast<int>(-got));
    if (got == 0) break;
    filled += static_cast<size_t>(got);
  }
  if (filled > max_bytes) return Refuse(path, fmt::format("it is longer than {} bytes", max_bytes));
  text.resize(filled);
  return text;
}

constexpr size_t kMaxFileBytes = 16u << 10;  // more than the head of a request can have
constexpr std::string_view kAround = " \t\r\n\v\f";

}  // namespace

// The file is opened without waiting, because it could be a FIFO, and checked by its descriptor, because the path could
// lead to another file a moment later.
Result<GuardedText> ReadGuardedFile(const std::string& path, size_t max_bytes) {
  TRY(const OwnedFd fd, sys::OpenAt(AT_FDCWD, path, O_RDONLY | O_NONBLOCK, sys::Links::kFollow));
  struct stat status{};
  if (::fstat(fd.get(), &status) < 0) return FailErrno("stat", path);
  TRY_VOID(CheckStatus(path, status));
  TRY(std::string text, ReadText(fd.get(), path, max_bytes));
  return GuardedText{.text = std::move(text), .mode = status.st_mode};
}

Result<FileSecret> ReadSecretFile(const std::string& path) {
  TRY(const GuardedText file, ReadGuardedFile(path, kMaxFileBytes));
  const size_t begin = file.text.find_first_not_of(kAround);
  if (begin == std::string::npos) return Fail(ErrorKind::kInvalidParams, fmt::format("read {}: it is empty", path));
  return FileSecret{.text = file.text.substr(begin, file.text.find_last_not_of(kAround) + 1 - begin),
                    .is_readable_by_everyone = (file.mode & S_IROTH) != 0};
}

void WarnOfReadableKey(const std::string& key_file) {
  struct stat status{};
  if (::stat(key_file.c_str(), &status) != 0 || (status.st_mode & S_IROTH) == 0) return;
  LogWarn("tls.key_readable", {{"file", key_file}, {"reason", "every user may read the TLS key (chmod o-r)"}});
}

}  // namespace holdfast::auth
