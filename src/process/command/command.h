// What to run and how it is connected: values, decided before anything is spawned.
#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
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

  friend bool operator==(const Wrapper&, const Wrapper&) = default;
};

struct Command {
  std::string program = {};                     // a path, or a bare name when search_path is set
  std::optional<std::string> search_path = {};  // PATH syntax; an empty element is the working directory
  std::vector<std::string> argv = {};           // argv[0] included; not empty
  Environment env = {};
  std::string cwd = {};
  std::optional<Wrapper> wrapper = {};  // when `program` is one

  friend bool operator==(const Command&, const Command&) = default;
};

// A command as requests and command lines write it.
struct CommandText {
  std::optional<std::string> program = {};  // executed as it stands; absent: the first word, which is looked up in PATH
  std::vector<std::string> words;           // not empty
  std::optional<std::string> arg0 = {};     // the name that the command is told; absent: the first word

  friend bool operator==(const CommandText&, const CommandText&) = default;
};

// The program and the argv that `text` asks for; the environment and the directory are left to the caller. A bare name
// is looked up in `path`, the value of the command's PATH, as the C library does it: in its default path when there is
// none, and in the working directory when it is empty.
Command MakeCommand(CommandText text, std::optional<std::string_view> path);

// The text without a `program` that stands for the same command, for a caller that looks every bare first word up: the
// name of a file in the working directory gets a `./`.
CommandText TextOf(const Command& command);

enum class Stdin { kNull, kPipe };

struct Pipes {
  Stdin stdin_mode = Stdin::kNull;
};

struct Terminal {
  sys::WindowSize size;
};

using Io = std::variant<Pipes, Terminal>;

}  // namespace holdfast::process
