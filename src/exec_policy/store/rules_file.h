// A rules file that a client of a server has named: opened, and not read yet.
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
  // a device no end.
  static Result<RulesFile> Open(const std::string& path);
};

}  // namespace holdfast::exec_policy
