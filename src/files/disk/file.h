// One regular file that is open. Directories and special files (FIFO, device, socket) are refused before they are
// opened, because opening some of them blocks or has an effect. If another process puts such a file there after the
// check, it is opened without blocking, and then refused. For a reader the placeholder of a sandbox (sys/placeholder.h)
// does not exist; a writer turns it into an ordinary file.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <utility>

#include "base/owned_fd.h"
#include "base/result.h"
#include "files/disk/guarded_names.h"
#include "files/disk/metadata.h"

namespace holdfast::files {

class File {
 public:
  static constexpr mode_t kUsualMode = 0666;

  static Result<File> OpenForReading(const std::string& path, Symlinks symlinks);

  // Creates the file with `mode` without the bits of the umask, or opens an existing one, whose mode and content stay.
  // A directory is refused with EISDIR.
  static Result<File> OpenForWriting(const std::string& path, Symlinks symlinks, const GuardedNames& guarded,
                                     mode_t mode = kUsualMode);

  // Opens an existing file for reading and writing.
  static Result<File> OpenForUpdate(const std::string& path, Symlinks symlinks, const GuardedNames& guarded);

  // These functions open or create `name` in an open directory, and never follow a link. `path` is used in messages.
  static Result<File> OpenForReadingAt(int directory, const std::string& name, const std::string& path);
  static Result<File> CreateAt(int directory, const std::string& name, mode_t mode, const std::string& path);

  // Takes over a file that another process has opened and passed on.
  static Result<File> Adopt(OwnedFd fd, std::string path);

  uint64_t size() const { return size_; }  // the size at the open; 0 for files of /proc and the like
  int fd() const { return fd_.get(); }
  const std::string& path() const { return path_; }

  // Fills `buffer` unless the file ends first, and returns the number of bytes read.
  Result<size_t> ReadAt(uint64_t offset, std::span<std::byte> buffer) const;
  // Writes all bytes or fails. In both cases `written` is set to the number of bytes written.
  Result<> WriteAt(uint64_t offset, std::span<const std::byte> bytes, size_t* written = nullptr) const;
  Result<> Truncate(uint64_t size) const;
  Result<> SetPermissions(mode_t permissions) const;  // as sys::SetPermissions
  Result<> SetModifiedAt(int64_t ms) const;

  // Closes the file and returns the error of that: a network file system may return only here that there is no room.
  // The file is closed in any case.
  Result<> Close();

 private:
  struct Opening {
    int directory;
    const std::string& name;
    int flags;
    sys::Links links;
    mode_t mode = 0;
  };
  static Result<File> Open(const Opening& opening, const std::string& path);
  static Result<File> OpenToWrite(const Opening& opening, Symlinks symlinks, const GuardedNames& guarded);

  File(OwnedFd fd, std::string path, uint64_t size) : fd_(std::move(fd)), path_(std::move(path)), size_(size) {}

  OwnedFd fd_;
  std::string path_;  // used in messages
  uint64_t size_;
};

}  // namespace holdfast::files
