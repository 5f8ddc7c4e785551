#include "doctor/limited_run.h"

#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <string_view>

#include "base/owned_fd.h"
#include "base/result.h"
#include "sys/argv.h"
#include "sys/exit_status.h"
#include "sys/io.h"
#include "sys/pidfd.h"
#include "sys/spawn.h"

namespace holdfast::doctor {
namespace {

using Clock = std::chrono::steady_clock;

constexpr size_t kMaxTextBytes = 64 << 10;

// Returns the environment of this process, in which `variables` replace those of the same name.
std::vector<std::string> Environment(const std::vector<std::string>& variables) {
  std::vector<std::string> environment = variables;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string_view name(*entry, std::string_view(*entry).find('=') + 1);
    if (std::ranges::none_of(variables, [&](std::string_view ours) { return ours.starts_with(name); })) {
      environment.emplace_back(*entry);
    }
  }
  return environment;
}

int TimeLeftMs(Clock::time_point deadline) {
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - Clock::now());
  return static_cast<int>(std::max<int64_t>(left.count(), 0));
}

// Reads what the pipe has, and closes the descriptor when the pipe has ended.
void ReadSome(OwnedFd& fd, std::string& text) {
  std::array<char, 4096> some;
  const ssize_t n = sys::Read(fd.get(), some.data(), some.size());
  if (n > 0) text.append(some.data(), std::min(static_cast<size_t>(n), kMaxTextBytes - text.size()));
  if (n == 0 || (n < 0 && n != -EAGAIN)) fd.Reset();
}

// Reads the output until the child has ended, and returns false if that does not happen in time. A pipe that another
// process still holds open after the end of the child is not waited for.
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

Result<pid_t> Start(const LimitedRun& run, int out, int err) {
  TRY(const OwnedFd nothing, sys::OpenDevNull());
  const std::vector<std::string> environment = Environment(run.variables);
  auto pid = sys::SpawnProgram({.path = run.program.c_str(),
                                .argv = sys::Argv(run.arguments).data(),
                                .environment = sys::Argv(environment).data(),
                                .streams = {run.input < 0 ? nothing.get() : run.input, out, err},
                                .group = sys::Program::Group::kOwn});
  if (!pid) return std::unexpected(std::move(pid).error().error);
  return *pid;
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
  const auto pid = Start(run, out->write_end.get(), err->write_end.get());
  if (!pid) return NotStarted(pid.error().message);
  out->write_end.Reset();
  err->write_end.Reset();
  const auto pidfd = sys::OpenPidfd(*pid);
  RunOutcome outcome;
  if (!pidfd || !Follow(pidfd->get(), out->read_end, err->read_end, deadline, outcome)) {
    outcome.kind = RunOutcome::Kind::kTimedOut;
    ::kill(-*pid, SIGKILL);
  }
  outcome.status = sys::ExitStatusOf(sys::AwaitStatus(*pid));
  return outcome;
}

}  // namespace holdfast::doctor
