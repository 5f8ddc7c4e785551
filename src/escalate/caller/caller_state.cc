#include "escalate/caller/caller_state.h"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <climits>
#include <string_view>

#include <fmt/format.h>

#include "base/owned_fd.h"
#include "base/parse_number.h"

namespace holdfast::escalate {
namespace {

// Returns a word of the line with this name. The words of a line are separated by tabs.
std::string_view WordIn(std::string_view status, std::string_view name, size_t index = 0) {
  const size_t line = status.find(fmt::format("\n{}:\t", name));
  if (line == std::string_view::npos) return {};
  status = status.substr(line + name.size() + 3);
  status = status.substr(0, status.find('\n'));
  for (; index > 0; --index) {
    const size_t next = status.find('\t');
    if (next == std::string_view::npos) return {};
    status.remove_prefix(next + 1);
  }
  return status.substr(0, status.find('\t'));
}

OrErrno<std::string> ReadStatus(pid_t tid) {
  const OwnedFd file(::open(fmt::format("/proc/{}/status", tid).c_str(), O_RDONLY | O_CLOEXEC));
  if (!file.is_open()) return std::unexpected(errno == ENOENT ? ESRCH : errno);
  std::array<char, 8192> text;  // the lines that are used come early, before the lists of processors
  const ssize_t size = ::read(file.get(), text.data(), text.size());
  if (size < 0) return std::unexpected(errno);
  return std::string(text.data(), static_cast<size_t>(size));
}

}  // namespace

OrErrno<CallerState> ReadCallerState(pid_t tid) {
  const auto status = ReadStatus(tid);
  if (!status) return std::unexpected(status.error());
  const auto process = ParseNumber<pid_t>(WordIn(*status, "Tgid"));
  const auto capabilities = ParseNumber<uint64_t>(WordIn(*status, "CapEff"), 16);
  const auto user = ParseNumber<uid_t>(WordIn(*status, "Uid", 3));
  if (!process || !capabilities || !user) return std::unexpected(ESRCH);
  return CallerState{.process = *process, .capabilities = *capabilities, .user = *user};
}

OrErrno<std::string> WorkingDirectoryOf(pid_t tid) { return LinkOf(tid, "cwd"); }

OrErrno<std::string> LinkOf(pid_t tid, const std::string& name) {
  std::array<char, PATH_MAX> path;
  const ssize_t size = ::readlink(fmt::format("/proc/{}/{}", tid, name).c_str(), path.data(), path.size());
  if (size < 0) return std::unexpected(errno);
  return std::string(path.data(), static_cast<size_t>(size));
}

}  // namespace holdfast::escalate
