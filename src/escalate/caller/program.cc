#include "escalate/caller/program.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "base/paths.h"
#include "escalate/caller/caller_view.h"
#include "escalate/caller/fixed_path.h"
#include "sys/permissions.h"

namespace holdfast::escalate {
namespace {

constexpr size_t kMaxInterpreters = 5;  // as in the kernel: the interpreter of a script may be a script itself

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

// Returns the words of the first line of a script. Only a regular file is opened: opening a device may have effects.
std::vector<std::string> InterpreterOf(int file) {
  struct stat status;
  if (::fstat(file, &status) != 0 || !S_ISREG(status.st_mode)) return {};
  const auto beginning = BeginningOf(file);
  return beginning && beginning->starts_with("#!") ? SplitScriptLine(*beginning) : std::vector<std::string>();
}

void AddIdentity(int file, std::vector<sys::FileIdentity>& identities) {
  struct stat status;
  if (::fstat(file, &status) == 0) identities.push_back(sys::FileIdentity::Of(status));
}

// An interpreter that cannot be found makes the kernel fail.
void FindInterpreters(const CallerView& caller, Program& program) {
  std::vector<std::string> words = program.interpreter = InterpreterOf(program.file->get());
  for (size_t depth = 0; !words.empty() && depth < kMaxInterpreters; ++depth) {
    const auto found = caller.Find(words.front());
    if (!found) return;
    if (depth > 0) program.interpreter_paths.push_back(words.front());
    auto path = RealPathOf(found->file.get());
    if (path && *path != words.front()) program.interpreter_paths.push_back(*std::move(path));
    AddIdentity(found->file.get(), program.executables);
    words = InterpreterOf(found->file.get());
  }
}

OrErrno<std::string> AbsolutePath(const CallerView& caller, const std::string& path, const std::string& directory) {
  if (path.starts_with('/')) return JoinedPath("/", path);
  const auto start = LinkOf(caller.tid(), directory);
  if (!start) return start;
  return JoinedPath(*start, path);
}

using exec_policy::ProgramFile;

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

// Returns 0, or the errno with which the kernel refuses to execute the file.
int CheckExecutable(int file, const struct stat& status) {
  if (!S_ISREG(status.st_mode)) return EACCES;
  if ((status.st_mode & (S_IXUSR | S_IXGRP | S_IXOTH)) == 0) return EACCES;
  const int refusal = sys::CheckAccess(file, X_OK);
  return refusal == 0 || refusal == ENOSYS || refusal == EINVAL ? 0 : EACCES;
}

// Returns ENOEXEC for a file that is not a program.
int CheckFormat(const CallerView& caller, int file) {
  const auto beginning = BeginningOf(file);
  if (!beginning || beginning->starts_with("\177ELF")) return 0;
  if (!beginning->starts_with("#!")) return ENOEXEC;
  const std::string interpreter = InterpreterOf(*beginning);
  if (interpreter.empty()) return 0;
  const auto found = caller.Find(interpreter);
  return found ? 0 : found.error();
}

bool IsSameOutside(const struct stat& inside, const std::string& path) {
  struct stat outside;
  return ::stat(path.c_str(), &outside) == 0 && outside.st_dev == inside.st_dev && outside.st_ino == inside.st_ino;
}

ProgramFile ExaminePath(int root, const std::string& path, const CallerState& state) {
  if (!IsFixedPath(root, path, state)) return ProgramFile::kWritable;
  if (IsOfSystem(path)) return ProgramFile::kOfSystem;
  return IsFixedOutside(path, ::geteuid()) ? ProgramFile::kFixed : ProgramFile::kWritable;
}

// Returns what is known about a file and the interpreters by which the kernel executes it: the worst of it.
ProgramFile ExamineFile(const CallerView& caller, int file, const std::string& path, const CallerState& state,
                        size_t interpreters = 0) {
  struct stat status;
  if (::fstat(file, &status) != 0 || !IsSameOutside(status, path)) return ProgramFile::kNotTheSame;
  const ProgramFile examined = ExaminePath(caller.root(), path, state);
  const auto beginning = BeginningOf(file);
  if (!beginning || !beginning->starts_with("#!")) return examined;
  const std::string interpreter = InterpreterOf(*beginning);
  if (interpreter.empty() || interpreters == kMaxInterpreters) return ProgramFile::kWritable;
  const auto found = caller.Find(interpreter);
  if (!found) return ProgramFile::kWritable;
  return std::max(examined, ExamineFile(caller, found->file.get(), interpreter, state, interpreters + 1));
}

}  // namespace

std::string JoinedPath(std::string_view directory, std::string_view path) {
  std::string joined;
  if (!path.starts_with('/')) {
    for (const std::string_view name : NamesIn(directory)) joined.append("/").append(name);
  }
  for (const std::string_view name : NamesIn(path)) joined.append("/").append(name);
  return joined.empty() ? "/" : joined;
}

std::optional<std::string> BeginningOf(int file) {
  const std::string name = fmt::format("/proc/self/fd/{}", file);
  const OwnedFd readable(::open(name.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC));
  if (!readable.is_open()) return std::nullopt;
  std::array<char, 256> bytes;  // as much as the kernel looks at
  const ssize_t size = ::pread(readable.get(), bytes.data(), bytes.size(), 0);
  if (size < 0) return std::nullopt;
  return std::string(bytes.data(), static_cast<size_t>(size));
}

OrErrno<Program> FindProgram(const CallerView& caller, const std::string& path, const std::string& directory) {
  auto found = caller.Find(path, directory);
  if (!found) return std::unexpected(found.error());
  auto real_path = RealPathOf(found->file.get());
  if (!real_path) return std::unexpected(real_path.error());
  auto called_path = found->through_process ? *real_path : AbsolutePath(caller, path, directory);
  if (!called_path) return std::unexpected(called_path.error());
  Program program{.path = *std::move(called_path), .file = std::make_shared<const OwnedFd>(std::move(found->file))};
  if (program.path != *real_path) program.other_paths.push_back(*std::move(real_path));
  AddIdentity(program.file->get(), program.executables);
  FindInterpreters(caller, program);
  return program;
}

OrErrno<ProgramLook> LookAtProgram(const CallerView& caller, const Program& program, const CallerState& state) {
  struct stat status;
  const int file = program.file->get();
  if (::fstat(file, &status) != 0) return std::unexpected(errno);
  if (const int error = CheckExecutable(file, status); error != 0) return std::unexpected(error);
  const int format = CheckFormat(caller, file);
  if (format != 0 && format != ENOEXEC) return std::unexpected(format);
  return ProgramLook{.file = ExamineFile(caller, file, program.path, state), .needs_shell = format == ENOEXEC};
}

}  // namespace holdfast::escalate
