// Rules files: the check of who may change them, their text, and a file that a user or a client of a server has named,
// opened and not read yet.
//
// What it does not stop: a regular file of a file system that does not answer, such as a network file system whose
// server is gone, makes the caller wait.
#pragma once

#include <sys/stat.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>

#include "base/owned_fd.h"
#include "base/result.h"
#include "sys/file_identity.h"

namespace holdfast::exec_policy {

// A check of the owner and the mode of rules files and of their directories.
//
// What it does not stop: processes of the same user, including a sandboxed command that may write the directory.

// Fails with a sentence that says what to do, unless the file or directory belongs to this user or to root and no other
// user can write it. It may be writable by a group that has the number of the owner, because that is the owner's
// private group.
Result<> CheckTrust(const std::string& path, const struct stat& status);

// Reads from a regular file. Fails if the text is longer than the interpreter takes. `path` is used in error messages.
Result<std::string> ReadText(int fd, const std::string& path);

// The state by which a change of a file is noticed.
struct FileState {
  std::string path;
  sys::FileIdentity identity;
  int64_t size = 0;
  std::chrono::nanoseconds modified{}, changed{};  // since 1970

  friend bool operator==(const FileState&, const FileState&) = default;
};

struct RulesFile {
  OwnedFd fd;
  FileState state;

  // Opens a regular file, or a link to one. Anything else is refused without waiting: a FIFO has perhaps no writer, and
  // a device no end. Files of /proc are refused too: a diagnostic shows a line of the file to the client, which may
  // read every other file by a command that it starts, but not /proc/self/environ of the server.
  static Result<RulesFile> Open(const std::string& path);
};

}  // namespace holdfast::exec_policy
