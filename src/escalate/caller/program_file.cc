#include "escalate/caller/program_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <string_view>

#include <fmt/format.h>

#include "base/owned_fd.h"
#include "escalate/caller/fixed_path.h"
#include "sys/open.h"
#include "sys/permissions.h"

namespace holdfast::escalate {
namespace {

using exec_policy::ProgramFile;

constexpr int kMaxInterpreters = 5;  // as in the kernel: the interpreter of a script may be a script itself

OrErrno<OwnedFd> OpenRoot(pid_t tid) {
  OwnedFd root(::open(fmt::format("/proc/{}/root", tid).c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  if (!root.is_open()) return std::unexpected(errno == EACCES ? EPERM : errno);
  return root;
}

OrErrno<OwnedFd> OpenInRoot(int root, const std::string& path) {
  const int file = sys::OpenInRoot(root, path, O_PATH);
  if (file < 0) return std::unexpected(-file);
  return OwnedFd(file);
}

OrErrno<OwnedFd> OpenLink(pid_t tid, const std::string& link) {
  OwnedFd file(::open(fmt::format("/proc/{}/{}", tid, link).c_str(), O_PATH | O_CLOEXEC));
  if (!file.is_open()) return std::unexpected(errno == ENOENT ? EBADF : errno);
  return file;
}

// Returns the beginning of a file. It is empty, too, if the file may be executed but not read.
std::optional<std::string> BeginningOf(int file) {
  const std::string name = fmt::format("/proc/self/fd/{}", file);
  const OwnedFd readable(::open(name.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC));
  if (!readable.is_open()) return std::nullopt;
  std::array<char, 256> bytes;  // as much as the kernel looks at
  const ssize_t size = ::pread(readable.get(), bytes.data(), bytes.size(), 0);
  if (size < 0) return std::nullopt;
  return std::string(bytes.data(), static_cast<size_t>(size));
}

// Returns the absolute path of the interpreter that a script names; empty if there is none.
std::string InterpreterOf(std::string_view beginning) {
  std::string_view line = beginning.substr(2, beginning.find('\n') - 2);
  const size_t first = line.find_first_not_of(" \t");
  if (first == std::string_view::npos || line[first] != '/') return {};
  line.remove_prefix(first);
  const size_t end = line.find_first_of(" \t");
  const bool is_cut_off = end == std::string_view::npos && !beginning.contains('\n') && beginning.size() == 256;
  return is_cut_off ? std::string() : std::string(line.substr(0, end));
}

std::string_view Trimmed(std::string_view text) {
  const size_t first = text.find_first_not_of(" \t");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t") + 1 - first);
}

// Splits the first line of a script as the kernel does: all that comes behind the interpreter is one argument.
std::vector<std::string> SplitScriptLine(std::string_view beginning) {
  constexpr std::string_view line_ends("\n\0", 2);
  const std::string_view line = Trimmed(beginning.substr(2, beginning.find_first_of(line_ends) - 2));
  const std::string_view interpreter = line.substr(0, line.find_first_of(" \t"));
  const std::string_view argument = Trimmed(line.substr(interpreter.size()));
  std::vector<std::string> words;
  if (!interpreter.empty()) words.emplace_back(interpreter);
  if (!argument.empty()) words.emplace_back(argument);
  return words;
}

// Returns 0, or the errno with which the kernel refuses to execute the file.
int CheckExecutable(int file, const struct stat& status) {
  if (!S_ISREG(status.st_mode)) return EACCES;
  if ((status.st_mode & (S_IXUSR | S_IXGRP | S_IXOTH)) == 0) return EACCES;
  const int refusal = sys::CheckAccess(file, X_OK);
  return refusal == 0 || refusal == ENOSYS || refusal == EINVAL ? 0 : EACCES;
}

// Returns ENOEXEC for a file that is no program.
int CheckFormat(int root, int file) {
  const auto beginning = BeginningOf(file);
  if (!beginning || beginning->starts_with("\177ELF")) return 0;
  if (!beginning->starts_with("#!")) return ENOEXEC;
  const std::string interpreter = InterpreterOf(*beginning);
  if (interpreter.empty()) return 0;
  const auto opened = OpenInRoot(root, interpreter);
  return opened || opened.error() == ELOOP ? 0 : opened.error();
}

bool IsSameOutside(const struct stat& inside, const std::string& path) {
  struct stat outside;
  return ::stat(path.c_str(), &outside) == 0 && outside.st_dev == inside.st_dev && outside.st_ino == inside.st_ino;
}

bool IsFixed(int root, const std::string& path, const CallerState& caller) {
  return IsFixedPath(root, path, caller) && IsFixedOutside(path, ::geteuid());
}

// Returns what is known about a file, and about the interpreters by which the kernel executes it.
ProgramFile ExamineFile(int root, int file, const std::string& path, const CallerState& caller, int interpreters = 0) {
  struct stat status;
  if (::fstat(file, &status) != 0 || !IsSameOutside(status, path)) return ProgramFile::kNotTheSame;
  if (!IsFixed(root, path, caller)) return ProgramFile::kWritable;
  const auto beginning = BeginningOf(file);
  if (!beginning || !beginning->starts_with("#!")) return ProgramFile::kFixed;
  const std::string interpreter = InterpreterOf(*beginning);
  if (interpreter.empty() || interpreters == kMaxInterpreters) return ProgramFile::kWritable;
  const auto opened = OpenInRoot(root, interpreter);
  if (!opened) return ProgramFile::kWritable;
  return ExamineFile(root, opened->get(), interpreter, caller, interpreters + 1);
}

}  // namespace

OrErrno<ProgramLook> LookAtProgram(pid_t tid, const std::string& path, const CallerState& caller,
                                   const ProgramLink& link) {
  const auto root = OpenRoot(tid);
  if (!root) return std::unexpected(root.error());
  const auto file = link ? OpenLink(tid, *link) : OpenInRoot(root->get(), path);
  if (!file) return std::unexpected(file.error());
  struct stat status;
  if (::fstat(file->get(), &status) != 0) return std::unexpected(errno);
  if (const int error = CheckExecutable(file->get(), status); error != 0) return std::unexpected(error);
  const int format = CheckFormat(root->get(), file->get());
  if (format != 0 && format != ENOEXEC) return std::unexpected(format);
  return ProgramLook{.file = ExamineFile(root->get(), file->get(), path, caller), .needs_shell = format == ENOEXEC};
}

// Only a regular file is opened: opening a device may have effects.
std::vector<std::string> ReadInterpreter(pid_t tid, const std::string& path, const ProgramLink& link) {
  const auto root = OpenRoot(tid);
  if (!root) return {};
  const auto file = link ? OpenLink(tid, *link) : OpenInRoot(root->get(), path);
  struct stat status;
  if (!file || ::fstat(file->get(), &status) != 0 || !S_ISREG(status.st_mode)) return {};
  const auto beginning = BeginningOf(file->get());
  if (!beginning || !beginning->starts_with("#!")) return {};
  return SplitScriptLine(*beginning);
}

}  // namespace holdfast::escalate
