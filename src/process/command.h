// What to run and how it is connected: values, decided before anything is spawned.
#pragma once

#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "process/environment.h"
#include "sys/pty.h"

namespace holdfast::process {

struct Command {
  std::string program;                     // a path, or a bare name when search_path is set
  std::optional<std::string> search_path;  // PATH syntax; an empty element is the working directory
  std::vector<std::string> argv;           // argv[0] included; not empty
  Environment env;
  std::string cwd;
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
