#include "escalate/caller/program.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstddef>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "base/paths.h"
#include "escalate/caller/caller_state.h"
#include "escalate/caller/joined_path.h"

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

}  // namespace

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

}  // namespace holdfast::escalate
