// The views of programs that no process has: any path is that of a program of the host, called in a directory of it.
#pragma once

#include <fcntl.h>

#include <memory>
#include <string>

#include "escalate/caller/program.h"
#include "escalate/wrapper_server/program_view.h"

namespace holdfast::escalate {

inline ProgramView ViewOf(const std::string& file, const std::string& directory = "/") {
  const auto fd = std::make_shared<const OwnedFd>(::open(directory.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  return {.path = file.starts_with('/') ? file : JoinedPath(directory, file),
          .cwd = directory,
          .directory = OutsideDirectory{.fd = fd, .path = directory}};
}

}  // namespace holdfast::escalate
