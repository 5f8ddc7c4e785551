#include "escalate/caller/program_file.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <string>
#include <string_view>

#include "escalate/caller/fixed_path.h"
#include "sys/permissions.h"

namespace holdfast::escalate {
namespace {

using exec_policy::ProgramFile;

constexpr int kMaxInterpreters = 5;  // as in the kernel: the interpreter of a script may be a script itself

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

// Returns ENOEXEC for a file that is no program.
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
                        int interpreters = 0) {
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
