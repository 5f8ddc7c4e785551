#include "sandbox/ripgrep.h"

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>
#include <csignal>
#include <cstdint>
#include <utility>

#include <fmt/format.h>

#include "sandbox/tool_search.h"
#include "sys/io.h"

namespace holdfast::sandbox {
namespace {

using Clock = std::chrono::steady_clock;

constexpr size_t kReadBytes = 64u << 10, kMaxPathBytes = 64u << 10, kMaxComplaintBytes = 1024;

bool IsProgram(const std::string& path) {
  struct stat status{};
  return ::stat(path.c_str(), &status) == 0 && S_ISREG(status.st_mode) && ::access(path.c_str(), X_OK) == 0;
}

std::vector<std::string> Arguments(const RipgrepSearch& search) {
  std::vector<std::string> arguments = {"rg", "--no-config", "--files", "--hidden", "--no-ignore", "--null"};
  if (search.max_depth) arguments.insert(arguments.end(), {"--max-depth", std::to_string(*search.max_depth)});
  for (const std::string& glob : search.globs) arguments.insert(arguments.end(), {"--glob", glob});
  arguments.insert(arguments.end(), {"--", "."});
  return arguments;
}

// What the child does before it becomes rg: work in the directory, keep three descriptors and no signal setting.
class SpawnSettings {
 public:
  SpawnSettings(int directory, int output, int errors) {
    ::posix_spawn_file_actions_init(&actions_);
    ::posix_spawnattr_init(&attributes_);
    ok_ = Describe(directory, output, errors);
  }
  ~SpawnSettings() {
    ::posix_spawnattr_destroy(&attributes_);
    ::posix_spawn_file_actions_destroy(&actions_);
  }
  SpawnSettings(const SpawnSettings&) = delete;
  SpawnSettings& operator=(const SpawnSettings&) = delete;

  // A pid or -errno.
  pid_t Spawn(const std::string& program, const std::vector<std::string>& arguments) {
    if (!ok_) return -ENOMEM;
    std::vector<char*> argv;
    argv.reserve(arguments.size() + 1);
    for (const std::string& argument : arguments) argv.push_back(const_cast<char*>(argument.c_str()));
    argv.push_back(nullptr);
    char* no_environment = nullptr;
    pid_t pid = -1;
    const int error = ::posix_spawn(&pid, program.c_str(), &actions_, &attributes_, argv.data(), &no_environment);
    return error == 0 ? pid : -error;
  }

 private:
  bool Describe(int directory, int output, int errors) {
    sigset_t none, all;
    ::sigemptyset(&none);
    ::sigfillset(&all);
    return ::posix_spawn_file_actions_addfchdir_np(&actions_, directory) == 0 &&
           ::posix_spawn_file_actions_addopen(&actions_, STDIN_FILENO, "/dev/null", O_RDONLY, 0) == 0 &&
           ::posix_spawn_file_actions_adddup2(&actions_, output, STDOUT_FILENO) == 0 &&
           ::posix_spawn_file_actions_adddup2(&actions_, errors, STDERR_FILENO) == 0 &&
           ::posix_spawn_file_actions_addclosefrom_np(&actions_, STDERR_FILENO + 1) == 0 &&
           ::posix_spawnattr_setsigmask(&attributes_, &none) == 0 &&
           ::posix_spawnattr_setsigdefault(&attributes_, &all) == 0 &&
           ::posix_spawnattr_setflags(&attributes_, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF) == 0;
  }

  posix_spawn_file_actions_t actions_;
  posix_spawnattr_t attributes_;
  bool ok_;
};

// Reaps the child; a wait status or -errno.
int Wait(pid_t pid) {
  int status = 0;
  while (::waitpid(pid, &status, 0) < 0) {
    if (errno != EINTR) return -errno;
  }
  return status;
}

int PollTimeout(Clock::time_point deadline) {
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - Clock::now());
  return static_cast<int>(std::clamp<int64_t>(left.count(), 0, INT_MAX));
}

bool IsEnd(ssize_t n) { return n == 0 || (n < 0 && n != -EAGAIN); }

std::string_view WithoutNewline(std::string_view text) {
  while (text.ends_with('\n')) text.remove_suffix(1);
  return text;
}

std::unexpected<Error> Failed(std::string_view reason) {
  return Fail(ErrorKind::kInvalidRequest, fmt::format("rg: {}", reason));
}

}  // namespace

std::optional<std::string> FindRipgrep(std::string_view path_variable, std::span<const std::string> untrusted) {
  return FindTool({.name = "rg", .path_variable = path_variable, .untrusted = untrusted}, IsProgram);
}

Result<Ripgrep> Ripgrep::Start(const RipgrepSearch& search, int directory) {
  TRY(sys::Pipe output, sys::MakePipe(sys::OurEnd::kRead));
  TRY(sys::Pipe errors, sys::MakePipe(sys::OurEnd::kRead));
  SpawnSettings settings(directory, output.write_end.get(), errors.write_end.get());
  const pid_t pid = settings.Spawn(search.program, Arguments(search));
  if (pid < 0) return std::unexpected(ErrnoError("start", search.program, -pid));
  return Ripgrep(pid, std::move(output.read_end), std::move(errors.read_end));
}

Ripgrep::Ripgrep(pid_t pid, OwnedFd output, OwnedFd errors)
    : pid_(pid), output_(std::move(output)), errors_(std::move(errors)) {}

Ripgrep::Ripgrep(Ripgrep&& other) noexcept
    : pid_(std::exchange(other.pid_, -1)), output_(std::move(other.output_)), errors_(std::move(other.errors_)) {}

Ripgrep::~Ripgrep() {
  if (pid_ < 0) return;
  ::kill(pid_, SIGKILL);
  (void)Wait(pid_);  // what became of it no longer matters
}

Result<> Ripgrep::Collect(const Found& found, Clock::time_point deadline) {
  while (output_.is_open() || errors_.is_open()) {
    std::array<pollfd, 2> both = {pollfd{output_.get(), POLLIN, 0}, pollfd{errors_.get(), POLLIN, 0}};
    const int ready = ::poll(both.data(), both.size(), PollTimeout(deadline));
    if (ready < 0 && errno != EINTR) return std::unexpected(ErrnoError("poll", "", errno));
    if (ready == 0) return Failed("not done in time");
    if (ready < 0) continue;
    if (both[0].revents != 0) TRY_VOID(ReadOutput(found));
    if (both[1].revents != 0) ReadErrors();
    if (complaints_.size() >= kMaxComplaintBytes) return Failed(complaints_);
  }
  if (!partial_.empty()) return Failed("its output ends within a path");
  // It has closed its output, so it is ending: the signal comes too late for a status that is already given, and
  // reaches only a program that would go on without output.
  ::kill(pid_, SIGKILL);
  return Judge(Wait(std::exchange(pid_, -1)));
}

Result<> Ripgrep::ReadOutput(const Found& found) {
  const size_t kept = partial_.size();
  partial_.resize(kept + kReadBytes);
  const ssize_t n = sys::Read(output_.get(), partial_.data() + kept, kReadBytes);
  partial_.resize(kept + static_cast<size_t>(std::max<ssize_t>(n, 0)));
  if (IsEnd(n)) output_.Reset();

  size_t start = 0;
  for (size_t end; (end = partial_.find('\0', start)) != std::string::npos; start = end + 1) {
    std::string_view path(partial_.data() + start, end - start);
    if (path.starts_with("./")) path.remove_prefix(2);
    TRY_VOID(found(path));
  }
  partial_.erase(0, start);
  return partial_.size() > kMaxPathBytes ? Failed("a path without an end") : Result<>();
}

void Ripgrep::ReadErrors() {
  std::array<char, 4096> some;
  const ssize_t n = sys::Read(errors_.get(), some.data(), some.size());
  if (IsEnd(n)) errors_.Reset();
  if (n > 0) complaints_.append(some.data(), std::min(static_cast<size_t>(n), kMaxComplaintBytes - complaints_.size()));
}

Result<> Ripgrep::Judge(int status) const {
  if (status < 0) return std::unexpected(ErrnoError("waitpid", "rg", -status));
  const bool exited = WIFEXITED(status);
  const int code = exited ? WEXITSTATUS(status) : WTERMSIG(status);
  constexpr int nothing_found = 1;
  if (exited && (code == 0 || code == nothing_found) && complaints_.empty()) return {};
  return Failed(fmt::format("{} {}: {}", exited ? "exit status" : "signal", code, WithoutNewline(complaints_)));
}

}  // namespace holdfast::sandbox
