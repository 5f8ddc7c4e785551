#include "escalate/seccomp/attempt.h"

#include <cerrno>
#include <optional>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "base/parse_number.h"
#include "escalate/caller/caller_memory.h"
#include "escalate/caller/caller_state.h"
#include "escalate/caller/joined_path.h"

namespace holdfast::escalate {
namespace {

constexpr int kExecveCheck = 0x10000;  // AT_EXECVE_CHECK of Linux 6.14

struct Program {
  std::string file;
  ProgramLink link = {};
};

// Returns the link in /proc/TID for a path that names what the calling process itself has open. Seen from another
// process, such a path leads elsewhere.
ProgramLink OwnLink(std::string_view path) {
  for (const std::string_view own : {"/proc/self/", "/proc/thread-self/", "/dev/"}) {
    if (!path.starts_with(own)) continue;
    std::string_view name = path.substr(own.size());
    if (name == "exe" && own != "/dev/") return std::string(name);
    if (!name.starts_with("fd/")) return std::nullopt;
    const auto fd = ParseNumber<int>(name.substr(3));
    return fd && *fd >= 0 ? ProgramLink(fmt::format("fd/{}", *fd)) : std::nullopt;
  }
  return std::nullopt;
}

OrErrno<Program> ProgramBehind(pid_t tid, std::string link, int if_missing) {
  auto file = LinkOf(tid, link);
  if (!file) return std::unexpected(file.error() == ENOENT ? if_missing : file.error());
  return Program{.file = *std::move(file), .link = std::move(link)};
}

OrErrno<Program> ResolveProgram(const ExecCall& call, const std::string& path, const std::string& cwd) {
  if (path.empty()) {
    if ((call.flags & AT_EMPTY_PATH) == 0) return std::unexpected(ENOENT);
    if (call.directory == AT_FDCWD) return std::unexpected(EACCES);  // the working directory is no program
    return ProgramBehind(call.tid, fmt::format("fd/{}", call.directory), EBADF);
  }
  if (path.starts_with('/')) {
    if (const ProgramLink link = OwnLink(path)) return ProgramBehind(call.tid, *link, ENOENT);
    return Program{.file = path};
  }
  if (call.directory == AT_FDCWD) return Program{.file = JoinedPath(cwd, path)};
  const auto directory = LinkOf(call.tid, fmt::format("fd/{}", call.directory));
  if (!directory) return std::unexpected(directory.error() == ENOENT ? EBADF : directory.error());
  return Program{.file = JoinedPath(*directory, path)};
}

}  // namespace

size_t Attempt::held_bytes() const {
  size_t bytes = sizeof *this + file.size() + cwd.size();
  for (const std::string& argument : argv) bytes += sizeof(std::string) + argument.size();
  for (const std::string& word : interpreter) bytes += sizeof(std::string) + word.size();
  return bytes;
}

bool OnlyChecks(const ExecCall& call) { return (call.flags & kExecveCheck) != 0; }

OrErrno<Attempt> ReadAttempt(const ExecCall& call) {
  if ((call.flags & ~(AT_EMPTY_PATH | AT_SYMLINK_NOFOLLOW | kExecveCheck)) != 0) return std::unexpected(EINVAL);
  CallerMemory memory(call.tid);
  auto path = memory.ReadPath(call.path);
  if (!path) return std::unexpected(path.error());
  auto cwd = WorkingDirectoryOf(call.tid);
  if (!cwd) return std::unexpected(EPERM);
  auto program = ResolveProgram(call, *path, *cwd);
  if (!program) return std::unexpected(program.error());
  size_t room = kMaxExecBytes;
  auto argv = memory.ReadStrings(call.argv, room);
  if (!argv) return std::unexpected(argv.error());
  auto interpreter = ReadInterpreter(call.tid, program->file, program->link);
  return Attempt{.call = call,
                 .path_end = call.path + path->size(),
                 .file = std::move(program->file),
                 .link = std::move(program->link),
                 .argv = *std::move(argv),
                 .cwd = *std::move(cwd),
                 .interpreter = std::move(interpreter),
                 .room = room};
}

OrErrno<std::vector<std::string>> ReadEnvironment(const Attempt& attempt) {
  size_t room = attempt.room;
  return CallerMemory(attempt.call.tid).ReadStrings(attempt.call.envp, room);
}

}  // namespace holdfast::escalate
