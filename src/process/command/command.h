// A command and its connections as values, which are complete before a process is started.
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

// A wrapper is a program between the keeper and the command, such as one that builds a sandbox. This struct has what
// that program is given.
struct Wrapper {
  static constexpr size_t kMaxFds = 6;
  static constexpr int kFirstFd = 5;  // the program finds `fds` from this number on, in their order

  std::vector<std::shared_ptr<const OwnedFd>> fds;
  // The server's end of the pipe for the report on the start (start_report.h), non-blocking.
  std::shared_ptr<const OwnedFd> report;
  // The time that the processes which a killed wrapper leaves behind have for cleaning up before they are killed too.
  // The time is over early when no such process is left.
  std::chrono::milliseconds grace{0};
  // The program sends descriptors, and so starts with a higher limit of them than commands have (sys/file_limit.h).
  bool lowers_file_limit = false;

  friend bool operator==(const Wrapper&, const Wrapper&) = default;
};

// Whether the owner of a command learns that the command was stopped. The keeper then leads the session of the command,
// so that its process group is not orphaned: in an orphaned group, SIGTSTP and the like stop no process.
enum class Stops { kUnnoticed, kReported };

struct Command {
  std::string program = {};                     // a path, or a bare name if search_path is set
  std::optional<std::string> search_path = {};  // in the syntax of PATH; an empty element is the working directory
  std::vector<std::string> argv = {};           // includes argv[0]; not empty
  Environment env = {};
  std::string cwd = {};
  std::optional<Wrapper> wrapper = {};  // present if `program` is a wrapper
  Stops stops = Stops::kUnnoticed;      // kReported is not for a command with a terminal

  friend bool operator==(const Command&, const Command&) = default;
};

// A command in the form that requests and command lines have.
struct CommandText {
  // The path that is executed as it is. If it is absent, the first word is the program and is looked up in PATH.
  std::optional<std::string> program = {};
  std::vector<std::string> words;        // not empty
  std::optional<std::string> arg0 = {};  // the argv[0] that the command sees; if absent, the first word

  friend bool operator==(const CommandText&, const CommandText&) = default;
};

// Returns a command with the program and the argv of `text`; the caller sets the environment and the directory. A bare
// name is looked up in `path`, the value of the command's PATH, as the C library does it: in the library's default path
// if there is no PATH, and in the working directory if PATH is empty.
Command MakeCommand(CommandText text, std::optional<std::string_view> path);

// Returns a text without a `program` that means the same command, for a caller that looks up every bare first word. The
// name of a file in the working directory gets a `./` in front.
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
