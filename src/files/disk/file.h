// One regular file, open. Directories and special files (FIFO, device, socket) are refused before they are opened:
// opening some of them blocks, or does something. What is swapped in at the last moment is opened without blocking, and
// refused then. The placeholder of a sandbox (sys/placeholder.h) does not exist to a reader; a writer makes it a file
// of its own.
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
#include "files/disk/symlinks.h"

namespace holdfast::files {

class File {
 public:
  static Result<File> OpenForReading(const std::string& path, Symlinks symlinks);

  // Creates it with mode 0666 less the umask, or takes what is there, whose mode and content stay. A directory is
  // EISDIR.
  static Result<File> OpenForWriting(const std::string& path, Symlinks symlinks, const GuardedNames& guarded);

  // For reading and writing; never creates.
  static Result<File> OpenForUpdate(const std::string& path, Symlinks symlinks, const GuardedNames& guarded);

  // `name` in an open directory, never through a link; `path` is for messages.
  static Result<File> OpenForReadingAt(int directory, const std::string& name, const std::string& path);
  static Result<File> CreateAt(int directory, const std::string& name, mode_t mode, const std::string& path);

  // A file that somebody else opened, and passed on.
  static Result<File> Adopt(OwnedFd fd, std::string path);

  uint64_t size() const { return size_; }  // when it was opened; 0 for the likes of /proc
  int fd() const { return fd_.get(); }
  const std::string& path() const { return path_; }

  // Fills `buffer` unless the file ends first; returns how much.
  Result<size_t> ReadAt(uint64_t offset, std::span<std::byte> buffer) const;
  // Writes all of it, or fails; `written` tells how far it came in either case.
  Result<> WriteAt(uint64_t offset, std::span<const std::byte> bytes, size_t* written = nullptr) const;
  Result<> Truncate(uint64_t size) const;

  // Says what only the close finds out: network file systems report a lack of room there. The file is closed anyway.
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
  static Result<File> OpenToWrite(const std::string& path, Symlinks symlinks, int flags, const GuardedNames& guarded);

  File(OwnedFd fd, std::string path, uint64_t size) : fd_(std::move(fd)), path_(std::move(path)), size_(size) {}

  OwnedFd fd_;
  std::string path_;  // for messages
  uint64_t size_;
};

}  // namespace holdfast::files
