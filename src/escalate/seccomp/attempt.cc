#include "escalate/seccomp/attempt.h"

#include <cerrno>
#include <span>
#include <utility>

#include <fmt/format.h>

#include "escalate/caller/caller_memory.h"
#include "escalate/caller/caller_view.h"

namespace holdfast::escalate {
namespace {

constexpr int kExecveCheck = 0x10000;  // AT_EXECVE_CHECK of Linux 6.14

OrErrno<Program> ProgramOf(const ExecCall& call, const std::string& path) {
  if (path.empty() && (call.flags & AT_EMPTY_PATH) == 0) return std::unexpected(ENOENT);
  const bool is_in_cwd = call.directory == AT_FDCWD;
  if (path.empty() && is_in_cwd) return std::unexpected(EACCES);  // the working directory is not a program
  const auto caller = CallerView::Of(call.tid);
  if (!caller) return std::unexpected(caller.error());
  return FindProgram(*caller, path, is_in_cwd ? "cwd" : fmt::format("fd/{}", call.directory));
}

size_t BytesOf(std::span<const std::string> texts) {
  size_t bytes = 0;
  for (const std::string& text : texts) bytes += sizeof(std::string) + text.size();
  return bytes;
}

}  // namespace

size_t Attempt::held_bytes() const {
  return sizeof *this + program.path.size() + cwd.size() + BytesOf(argv) + BytesOf(program.other_paths) +
         BytesOf(program.interpreter) + BytesOf(program.interpreter_paths);
}

bool OnlyChecks(const ExecCall& call) { return (call.flags & kExecveCheck) != 0; }

OrErrno<Attempt> ReadAttempt(const ExecCall& call) {
  if ((call.flags & ~(AT_EMPTY_PATH | AT_SYMLINK_NOFOLLOW | kExecveCheck)) != 0) return std::unexpected(EINVAL);
  CallerMemory memory(call.tid);
  auto path = memory.ReadPath(call.path);
  if (!path) return std::unexpected(path.error());
  auto cwd = WorkingDirectoryOf(call.tid);
  if (!cwd) return std::unexpected(EPERM);
  auto program = ProgramOf(call, *path);
  if (!program) return std::unexpected(program.error());
  size_t room = kMaxExecBytes;
  auto argv = memory.ReadStrings(call.argv, room);
  if (!argv) return std::unexpected(argv.error());
  return Attempt{.call = call,
                 .path_end = call.path + path->size(),
                 .program = *std::move(program),
                 .argv = *std::move(argv),
                 .cwd = *std::move(cwd),
                 .room = room};
}

OrErrno<std::vector<std::string>> ReadEnvironment(const Attempt& attempt) {
  size_t room = attempt.room;
  return CallerMemory(attempt.call.tid).ReadStrings(attempt.call.envp, room);
}

}  // namespace holdfast::escalate
