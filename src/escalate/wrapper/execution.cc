#include "escalate/wrapper/execution.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <string_view>

#include <fmt/format.h>

#include "base/owned_fd.h"
#include "base/result.h"
#include "sys/argv.h"
#include "sys/exit_codes.h"
#include "sys/io.h"
#include "sys/write_all.h"

namespace holdfast::escalate {
namespace {

constexpr const char* kShell = "/bin/sh";

int Complain(const std::string& file, std::string_view reason, int exit_code) {
  sys::WriteAll(STDERR_FILENO, fmt::format("{}: {}\n", file, reason));
  return exit_code;
}

// A script is text up to the end of its first line, like for other shells. A file that cannot be read is taken for one,
// because /bin/sh then gives the reason.
bool IsText(const std::string& file) {
  const OwnedFd fd(::open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  char start[256];
  const ssize_t n = fd.is_open() ? sys::Read(fd.get(), start, sizeof start) : 0;
  const std::string_view read(start, n > 0 ? static_cast<size_t>(n) : 0);
  return !read.substr(0, read.find('\n')).contains('\0');
}

int ExecuteScript(const std::string& file, std::vector<std::string> argv) {
  // A bare name would be looked for in PATH as well.
  const std::string script = file.contains('/') ? file : "./" + file;
  std::vector<std::string> words = {kShell, script};
  for (size_t i = 1; i < argv.size(); ++i) words.push_back(std::move(argv[i]));
  ::execv(kShell, sys::Argv(words).data());
  const int error = errno;
  return Complain(kShell, ErrnoText(error), sys::ExitCodeFor(error));
}

}  // namespace

int ExecuteHere(const std::string& file, std::vector<std::string> argv) {
  ::execv(file.c_str(), sys::Argv(argv).data());
  const int error = errno;
  if (error == ENOEXEC) {
    if (!IsText(file)) return Complain(file, "cannot execute binary file: " + ErrnoText(error), sys::kCannotExecute);
    return ExecuteScript(file, std::move(argv));
  }
  if (error == ENOENT && ::access(file.c_str(), F_OK) == 0) {
    return Complain(file, "cannot execute: its interpreter is missing", sys::kNotFound);
  }
  return Complain(file, ErrnoText(error), sys::ExitCodeFor(error));
}

}  // namespace holdfast::escalate
