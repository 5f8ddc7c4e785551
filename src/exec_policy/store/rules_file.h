// A rules file that a user or a client of a server has named: opened, and not read yet.
//
// What it does not stop: a regular file of a file system that does not answer, such as a network file system whose
// server is gone, makes the caller wait.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>

#include "base/owned_fd.h"
#include "base/result.h"
#include "sys/file_identity.h"

namespace holdfast::exec_policy {

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
