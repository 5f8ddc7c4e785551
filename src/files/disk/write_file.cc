#include "files/disk/write_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "base/random_id.h"
#include "base/sha256.h"
#include "files/disk/file.h"
#include "files/disk/metadata.h"
#include "files/disk/place.h"
#include "sys/placeholder.h"

namespace holdfast::files {
namespace {

// Returns the status of the file that is to be replaced, or nothing if there is none. Anything that may not be replaced
// is an error.
Result<std::optional<struct stat>> FindCurrent(const Place& place, const std::string& path) {
  struct stat status;
  const int directory = place.directory.get();
  if (::fstatat(directory, place.name.c_str(), &status, AT_SYMLINK_NOFOLLOW) < 0) {
    if (errno == ENOENT) return std::nullopt;
    return FailErrno("stat", path);
  }
  // A placeholder is not replaced, because the mount over it in a sandbox would go with it.
  if (sys::IsPlaceholderAt(directory, place.name)) return FailErrno("open", path, EBUSY);
  if (S_ISDIR(status.st_mode)) return FailErrno("open", path, EISDIR);
  if (!S_ISREG(status.st_mode)) {
    return Fail(ErrorKind::kInvalidRequest, fmt::format("path {}: not a regular file", path));
  }
  // A rename needs only the permission to write the directory. But a file that may not be written must not be replaced
  // either.
  if (::faccessat(directory, place.name.c_str(), W_OK, AT_EACCESS | AT_SYMLINK_NOFOLLOW) < 0) {
    return FailErrno("open", path);
  }
  return status;
}

// The temporary file that will replace the old one. It is removed again unless it has taken the place of the old file.
class Substitute {
 public:
  static Result<Substitute> Create(const Place& place, mode_t mode, const std::string& path) {
    std::string name = ".holdfast-" + RandomUuid();
    TRY(File file, File::CreateAt(place.directory.get(), name, mode, path));
    return Substitute(place, std::move(name), std::move(file));
  }
  ~Substitute() {
    if (!name_.empty()) ::unlinkat(place_->directory.get(), name_.c_str(), 0);
  }
  Substitute(Substitute&& other) noexcept
      : place_(other.place_), name_(std::exchange(other.name_, {})), file_(std::move(other.file_)) {}
  Substitute& operator=(Substitute&&) = delete;

  const File& file() const { return file_; }

  Result<> TakePlace() {
    const int directory = place_->directory.get();
    if (::renameat(directory, name_.c_str(), directory, place_->name.c_str()) < 0) {
      return FailErrno("rename", file_.path());
    }
    name_.clear();
    return {};
  }

 private:
  Substitute(const Place& place, std::string name, File file)
      : place_(&place), name_(std::move(name)), file_(std::move(file)) {}

  const Place* place_;
  std::string name_;  // empty once the file has its final name
  File file_;
};

// Gives the new file the owner, the group and the mode of the old one. The owner is set first, because a change of the
// owner removes the set-user-ID and set-group-ID bits. If the owner or the group cannot be kept, permissions that were
// meant for it are not given to another user or group.
Result<> TakeOver(const File& file, const struct stat& old) {
  const bool owner_kept = ::fchown(file.fd(), old.st_uid, old.st_gid) == 0;
  const bool group_kept = owner_kept || ::fchown(file.fd(), static_cast<uid_t>(-1), old.st_gid) == 0;
  mode_t mode = old.st_mode & 07777;
  if (!owner_kept) mode &= 0777;
  if (!group_kept) mode = (mode & 0707) | ((mode & 07) << 3);
  if (const int error = SetMode(file.fd(), mode)) return FailErrno("chmod", file.path(), error);
  return {};
}

int Sync(int fd) {
  while (::fsync(fd) < 0) {
    if (errno == EINVAL) return 0;  // the file system does not support fsync
    if (errno != EINTR) return errno;
  }
  return 0;
}

// Writes the directory to the disk. A directory that may not be read cannot be synced by itself, so the whole file
// system is synced then.
Result<> SyncDirectory(const Place& place, const File& file) {
  const int opened = sys::TryOpenAt(place.directory.get(), ".", O_RDONLY | O_DIRECTORY, sys::Links::kNone);
  if (opened < 0) {
    if (::syncfs(file.fd()) < 0) return FailErrno("syncfs", file.path());
    return {};
  }
  const OwnedFd directory(opened);
  if (const int failed = Sync(directory.get())) return FailErrno("fsync directory of", file.path(), failed);
  return {};
}

Result<std::string> DigestOf(const File& file) {
  constexpr size_t kPieceBytes = 128u << 10;
  const auto buffer = std::make_unique_for_overwrite<std::byte[]>(kPieceBytes);
  Sha256 sha;
  uint64_t offset = 0;
  for (;;) {
    TRY(const size_t n, file.ReadAt(offset, {buffer.get(), kPieceBytes}));
    sha.Update({buffer.get(), n});
    if (n < kPieceBytes) return sha.HexDigest();
    offset += n;
  }
}

std::string_view Shortened(std::string_view digest) { return digest.substr(0, 12); }

Result<> CheckDigest(const File& file, const std::string& expected) {
  TRY(const std::string digest, DigestOf(file));
  if (digest == expected) return {};
  return Fail(ErrorKind::kInvalidRequest, fmt::format("path {}: sha256 is {}..., expected {}...", file.path(),
                                                      Shortened(digest), Shortened(expected)));
}

// The old content is overwritten and not truncated away first, because ext4 writes a file that was truncated to zero to
// the disk at once, which costs more than everything else. So a reader may see the new content followed by the end of
// the old one.
Result<> Overwrite(File& file, std::span<const std::byte> bytes) {
  size_t written = 0;
  if (auto outcome = file.WriteAt(0, bytes, &written); !outcome) {
    (void)file.Truncate(written);  // the error of the write is more useful than one of this call
    return outcome;
  }
  // The current size is needed, because another process may have appended to the file meanwhile.
  struct stat status;
  if (::fstat(file.fd(), &status) < 0) return FailErrno("fstat", file.path());
  if (static_cast<uint64_t>(status.st_size) > bytes.size()) TRY_VOID(file.Truncate(bytes.size()));
  return file.Close();
}

Result<> WriteInPlace(const std::string& path, std::span<const std::byte> bytes, const WriteOptions& options,
                      const GuardedNames& guarded) {
  if (!options.expected_sha256) {
    TRY(File file, File::OpenForWriting(path, options.symlinks, guarded));
    return Overwrite(file, bytes);
  }
  // A write by another process between the comparison and this write is lost: there is no lock that other programs
  // respect.
  TRY(File file, File::OpenForUpdate(path, options.symlinks, guarded));
  TRY_VOID(CheckDigest(file, *options.expected_sha256));
  return Overwrite(file, bytes);
}

Result<> WriteAtomically(const std::string& path, std::span<const std::byte> bytes, const WriteOptions& options,
                         const GuardedNames& guarded) {
  CheckCurrent check;
  if (options.expected_sha256) {
    check = [&](const File& current) { return CheckDigest(current, *options.expected_sha256); };
  }
  return ReplaceFile(path, bytes, options.symlinks, check, guarded);
}

}  // namespace

Result<> ReplaceFile(const std::string& path, std::span<const std::byte> bytes, Symlinks symlinks,
                     const CheckCurrent& check, const GuardedNames& guarded) {
  TRY(const Place place, FindPlaceToChange(path, symlinks, guarded));
  TRY(const std::optional<struct stat> old, FindCurrent(place, path));
  // Other users must not read the temporary file before it has the owner and the mode of the old one.
  TRY(Substitute substitute, Substitute::Create(place, old ? 0600 : 0666, path));
  TRY_VOID(substitute.file().WriteAt(0, bytes));
  if (old) TRY_VOID(TakeOver(substitute.file(), *old));
  if (const int failed = Sync(substitute.file().fd())) return FailErrno("fsync", path, failed);
  if (check) {
    // A write by another process between this check and the rename is lost: the kernel has no rename that compares
    // first.
    TRY(const File current, File::OpenForReadingAt(place.directory.get(), place.name, path));
    TRY_VOID(check(current));
  }
  TRY_VOID(substitute.TakePlace());
  return SyncDirectory(place, substitute.file());
}

Result<> WriteFile(const std::string& path, std::span<const std::byte> bytes, const WriteOptions& options,
                   const GuardedNames& guarded) {
  auto outcome = options.replacement == Replacement::kAtomic ? WriteAtomically(path, bytes, options, guarded)
                                                             : WriteInPlace(path, bytes, options, guarded);
  if (outcome || outcome.error().kind != ErrorKind::kNotFound || !options.expected_sha256) return outcome;
  // The error is about the expected digest and not about the path: kNotFound would suggest to the client that it should
  // create the directories of the path.
  return Fail(ErrorKind::kInvalidRequest,
              fmt::format("path {}: does not exist, expected sha256 {}...", path, Shortened(*options.expected_sha256)));
}

}  // namespace holdfast::files
