#include "doctor/limited_run.h"

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <string_view>

#include "base/owned_fd.h"
#include "base/result.h"
#include "sys/io.h"

namespace holdfast::doctor {
namespace {

using Clock = std::chrono::steady_clock;

constexpr size_t kMaxTextBytes = 64 << 10;

// What the child does before it becomes the program.
class SpawnSettings {
 public:
  SpawnSettings(const LimitedRun& run, int out, int err) {
    ::posix_spawn_file_actions_init(&actions_);
    ::posix_spawnattr_init(&attributes_);
    ok_ = Descriptors(run, out, err) && Signals();
  }
  ~SpawnSettings() {
    ::posix_spawnattr_destroy(&attributes_);
    ::posix_spawn_file_actions_destroy(&actions_);
  }
  SpawnSettings(const SpawnSettings&) = delete;
  SpawnSettings& operator=(const SpawnSettings&) = delete;

  // A pid or -errno.
  pid_t Spawn(const std::string& program, char* const* argv, char* const* environment) const {
    if (!ok_) return -ENOMEM;
    pid_t pid = -1;
    const int error = ::posix_spawn(&pid, program.c_str(), &actions_, &attributes_, argv, environment);
    return error == 0 ? pid : -error;
  }

 private:
  bool Descriptors(const LimitedRun& run, int out, int err) {
    const bool input = run.input < 0
                           ? ::posix_spawn_file_actions_addopen(&actions_, STDIN_FILENO, "/dev/null", O_RDONLY, 0) == 0
                           : ::posix_spawn_file_actions_adddup2(&actions_, run.input, STDIN_FILENO) == 0;
    return input && ::posix_spawn_file_actions_adddup2(&actions_, out, STDOUT_FILENO) == 0 &&
           ::posix_spawn_file_actions_adddup2(&actions_, err, STDERR_FILENO) == 0;
  }

  bool Signals() {
    sigset_t none, all;
    ::sigemptyset(&none);
    ::sigfillset(&all);
    return ::posix_spawnattr_setsigmask(&attributes_, &none) == 0 &&
           ::posix_spawnattr_setsigdefault(&attributes_, &all) == 0 &&
           ::posix_spawnattr_setpgroup(&attributes_, 0) == 0 &&
           ::posix_spawnattr_setflags(&attributes_,
                                      POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETPGROUP) == 0;
  }

  posix_spawn_file_actions_t actions_;
  posix_spawnattr_t attributes_;
  bool ok_;
};

// Words as exec takes them, which only reads.
std::vector<char*> Pointers(const std::vector<std::string>& words) {
  std::vector<char*> pointers;
  pointers.reserve(words.size() + 1);
  for (const std::string& word : words) pointers.push_back(const_cast<char*>(word.c_str()));
  pointers.push_back(nullptr);
  return pointers;
}

std::vector<char*> Environment(const std::vector<std::string>& variables) {
  std::vector<char*> environment = Pointers(variables);
  environment.pop_back();
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string_view name(*entry, std::string_view(*entry).find('=') + 1);
    if (std::ranges::none_of(variables, [&](std::string_view ours) { return ours.starts_with(name); })) {
      environment.push_back(*entry);
    }
  }
  environment.push_back(nullptr);
  return environment;
}

int TimeLeftMs(Clock::time_point deadline) {
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - Clock::now());
  return static_cast<int>(std::max<int64_t>(left.count(), 0));
}

// Reads what there is; closes the end that has no more.
void ReadSome(OwnedFd& fd, std::string& text) {
  std::array<char, 4096> some;
  const ssize_t n = sys::Read(fd.get(), some.data(), some.size());
  if (n > 0) text.append(some.data(), std::min(static_cast<size_t>(n), kMaxTextBytes - text.size()));
  if (n == 0 || (n < 0 && n != -EAGAIN)) fd.Reset();
}

// Until the child has ended; what somebody else keeps open afterwards is not waited for. False: not in time.
bool Follow(int pidfd, OwnedFd& out, OwnedFd& err, Clock::time_point deadline, RunOutcome& outcome) {
  for (;;) {
    std::array<pollfd, 3> fds = {pollfd{pidfd, POLLIN, 0}, pollfd{out.get(), POLLIN, 0}, pollfd{err.get(), POLLIN, 0}};
    const int ready = ::poll(fds.data(), fds.size(), TimeLeftMs(deadline));
    if (ready < 0 && errno != EINTR) return false;
    if (ready == 0) return false;
    if (ready < 0) continue;
    if (fds[1].revents != 0) ReadSome(out, outcome.out);
    if (fds[2].revents != 0) ReadSome(err, outcome.err);
    if (fds[0].revents != 0 && fds[1].revents == 0 && fds[2].revents == 0) return true;
  }
}

int Reap(pid_t pid) {
  int status = 0;
  while (::waitpid(pid, &status, 0) < 0) {
    if (errno != EINTR) return 0;
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

RunOutcome NotStarted(std::string why) {
  return {.kind = RunOutcome::Kind::kNotStarted, .out = {}, .err = std::move(why)};
}

}  // namespace

RunOutcome RunLimited(const LimitedRun& run) {
  const Clock::time_point deadline = Clock::now() + run.limit;
  auto out = sys::MakePipe(sys::OurEnd::kRead), err = sys::MakePipe(sys::OurEnd::kRead);
  if (!out) return NotStarted(out.error().message);
  if (!err) return NotStarted(err.error().message);
  const SpawnSettings settings(run, out->write_end.get(), err->write_end.get());
  const pid_t pid = settings.Spawn(run.program, Pointers(run.arguments).data(), Environment(run.variables).data());
  if (pid < 0) return NotStarted(ErrnoError("start", run.program, -pid).message);
  out->write_end.Reset();
  err->write_end.Reset();
  const OwnedFd pidfd(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0)));
  RunOutcome outcome;
  if (!pidfd.is_open() || !Follow(pidfd.get(), out->read_end, err->read_end, deadline, outcome)) {
    outcome.kind = RunOutcome::Kind::kTimedOut;
    ::kill(-pid, SIGKILL);
  }
  outcome.status = Reap(pid);
  return outcome;
}

}  // namespace holdfast::doctor
