#include "exec_server/url_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>

#include <fmt/format.h>

#include "base/paths.h"
#include "base/random_id.h"
#include "sys/open.h"
#include "sys/write_all.h"

namespace holdfast::exec_server {
namespace {

constexpr mode_t kOwnerOnly = 0600;

std::unexpected<Error> Refuse(const std::string& path, std::string_view reason) {
  return Fail(ErrorKind::kInvalidRequest, fmt::format("write {}: {}", path, reason));
}

// In a directory with the sticky bit, such as /tmp, only the owner of a file can replace it.
Result<OwnedFd> OpenDirectoryOf(const std::string& path) {
  const std::string name = path.contains('/') ? path.substr(0, path.rfind('/') + 1) : ".";
  TRY(OwnedFd directory, sys::OpenAt(AT_FDCWD, name, O_PATH | O_DIRECTORY, sys::Links::kFollow));
  struct stat status{};
  if (::fstat(directory.get(), &status) < 0) return FailErrno("stat", name);
  if (status.st_uid != ::geteuid() && status.st_uid != 0) {
    return Refuse(path, "its directory belongs to another user, who could replace the file");
  }
  if ((status.st_mode & (S_IWGRP | S_IWOTH)) != 0 && (status.st_mode & S_ISVTX) == 0) {
    return Refuse(path, "other users may write its directory, and could replace the file (chmod go-w)");
  }
  return directory;
}

Result<> CheckPlace(const OwnedFd& directory, const std::string& name, const std::string& path) {
  if (name.empty() || name == "." || name == "..") return Refuse(path, "it is a directory");
  struct stat status{};
  if (::fstatat(directory.get(), name.c_str(), &status, AT_SYMLINK_NOFOLLOW) < 0) {
    return errno == ENOENT ? Result<>() : FailErrno("stat", path);
  }
  if (!S_ISREG(status.st_mode)) return Refuse(path, "what is there is not a regular file");
  if (status.st_uid != ::geteuid()) return Refuse(path, "the file that is there belongs to another user");
  return {};
}

// The mode is set again, because the umask may take the rights of the owner.
Result<OwnedFd> MakeFile(const OwnedFd& directory, const std::string& name, std::string_view url) {
  constexpr int flags = O_WRONLY | O_CREAT | O_EXCL;
  TRY(OwnedFd file, sys::OpenAt(directory.get(), name, flags, sys::Links::kNone, kOwnerOnly));
  if (::fchmod(file.get(), kOwnerOnly) < 0) return FailErrno("chmod", name);
  if (const int error = sys::WriteAll(file.get(), fmt::format("{}\n", url)); error != 0) {
    return FailErrno("write", name, error);
  }
  return file;
}

bool IsSameFile(const struct stat& one, const struct stat& other) {
  return one.st_dev == other.st_dev && one.st_ino == other.st_ino;
}

}  // namespace

Result<UrlFile> UrlFile::Create(const std::string& path, std::string_view url) {
  const std::string name(path.ends_with('/') ? "" : NameOf(path));
  TRY(OwnedFd directory, OpenDirectoryOf(path));
  TRY_VOID(CheckPlace(directory, name, path));
  const std::string early_name = fmt::format(".{}", RandomUuid());
  auto file = MakeFile(directory, early_name, url);
  if (!file || ::renameat(directory.get(), early_name.c_str(), directory.get(), name.c_str()) < 0) {
    auto failure = file ? FailErrno("rename", path) : std::unexpected(std::move(file).error());
    (void)::unlinkat(directory.get(), early_name.c_str(), 0);  // it may not have been made
    return failure;
  }
  return UrlFile(path, std::move(directory), *std::move(file));
}

UrlFile::~UrlFile() {
  if (!file_.is_open()) return;  // moved from
  struct stat ours{}, there{};
  if (::fstat(file_.get(), &ours) < 0) return;
  const std::string name(NameOf(path_));
  if (::fstatat(directory_.get(), name.c_str(), &there, AT_SYMLINK_NOFOLLOW) < 0) return;
  // A file that stays has a URL that nobody listens on any more.
  if (IsSameFile(ours, there)) (void)::unlinkat(directory_.get(), name.c_str(), 0);
}

}  // namespace holdfast::exec_server
