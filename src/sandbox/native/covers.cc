#include "sandbox/native/covers.h"

#include <fcntl.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "sandbox/native/mount_calls.h"

namespace holdfast::sandbox {
namespace {

constexpr const char* kDirectory = "empty directory";
constexpr const char* kFile = "empty file";

}  // namespace

Result<OwnedFd> Covers::Directory(uint32_t mode) {
  if (const auto known = directories_.find(mode); known != directories_.end()) {
    return CloneMount(known->second.get(), Extent::kOne, kDirectory);
  }
  TRY(OwnedFd mount, NewTmpfs(mode));
  TRY_VOID(SetAttributes(mount.get(), Extent::kOne, kReadOnly, kDirectory));
  OwnedFd known(::fcntl(mount.get(), F_DUPFD_CLOEXEC, 0));
  if (!known.is_open()) return FailErrno("fcntl", kDirectory);
  directories_.emplace(mode, std::move(known));
  return mount;
}

// Before Linux 6.15 the kernel copies no mount that is attached nowhere. So the file system of the files lies on the
// root for a moment, where it hides nothing: paths that begin at the descriptor of the root do not meet it.
Result<> Covers::OpenFiles() {
  if (files_.is_open()) return {};
  TRY(files_, NewTmpfs(0700));
  return Attach(files_.get(), root_, kFile);
}

Result<OwnedFd> Covers::File(uint32_t mode) {
  TRY_VOID(OpenFiles());
  const std::string name = fmt::format("{:o}", mode);
  if (::mknodat(files_.get(), name.c_str(), S_IFREG, 0) < 0 && errno != EEXIST) return FailErrno("mknod", kFile);
  if (::fchmodat(files_.get(), name.c_str(), mode, 0) < 0) return FailErrno("chmod", kFile);
  const OwnedFd file(::openat(files_.get(), name.c_str(), O_PATH | O_CLOEXEC | O_NOFOLLOW));
  if (!file.is_open()) return FailErrno("open", kFile);
  TRY(OwnedFd mount, CloneMount(file.get(), Extent::kOne, kFile));
  TRY_VOID(SetAttributes(mount.get(), Extent::kOne, kReadOnly | kNoDevices | kNoPrivileges, kFile));
  return mount;
}

Result<> Covers::Finish() {
  if (!files_.is_open()) return {};
  if (::fchdir(files_.get()) < 0) return FailErrno("fchdir", kFile);
  if (::umount2(".", MNT_DETACH) < 0) return FailErrno("umount", kFile);
  files_.Reset();
  return {};
}

}  // namespace holdfast::sandbox
