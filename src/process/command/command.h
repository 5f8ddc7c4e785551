// What to run and how it is connected: values, decided before anything is spawned.
#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "base/owned_fd.h"
#include "process/command/environment.h"
#include "sys/pty.h"

namespace holdfast::process {

// A program that stands between the keeper and the command, one that builds a sandbox say, and what it is given.
struct Wrapper {
  static constexpr size_t kMaxFds = 5;
  static constexpr int kFirstFd = 5;  // the program finds `fds` there, in this order

  std::vector<std::shared_ptr<const OwnedFd>> fds;
  // Our end of the pipe for the report on the start (start_report.h); non-blocking.
  std::shared_ptr<const OwnedFd> report;
  // For what it leaves behind when it is killed, to clean up before it is killed too; over when nobody is left.
  std::chrono::milliseconds grace{0};
};

struct Command {
  std::string program;                     // a path, or a bare name when search_path is set
  std::optional<std::string> search_path;  // PATH syntax; an empty element is the working directory
  std::vector<std::string> argv;           // argv[0] included; not empty
  Environment env;
  std::string cwd;
  std::optional<Wrapper> wrapper = {};  // when `program` is one
};

enum class Stdin { kNull, kPipe };

struct Pipes {
  Stdin stdin_mode = Stdin::kNull;
};

struct Terminal {
  sys::WindowSize size;
};

using Io = std::variant<Pipes, Terminal>;

}  // namespace holdfast::process
