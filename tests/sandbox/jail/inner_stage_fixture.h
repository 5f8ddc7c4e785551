// The fixture runs the inner stage as pid 1 of namespaces that the test makes itself, with a fresh /proc and Landlock
// rules that make one directory writable.
#pragma once

#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/owned_fd.h"
#include "sandbox/jail/inner_stage.h"
#include "support/scratch_dir.h"
#include "support/test_socket.h"
#include "sys/io.h"
#include "sys/pidfd.h"

namespace holdfast::sandbox {

inline constexpr int kNoNamespaces = 99;  // the status of a stage that could not be set up

inline void WriteTo(const char* path, std::string_view text) {
  const OwnedFd fd(::open(path, O_WRONLY | O_CLOEXEC));
  (void)sys::Write(fd.get(), text.data(), text.size());
}

// Starts a process that is pid 1 of namespaces of its own, with the user's id mapped to itself. It runs `stage` and
// ends.
inline pid_t CloneFirstProcess(const std::function<int()>& stage) {
  const std::string uid_map = fmt::format("{0} {0} 1", ::geteuid()), gid_map = fmt::format("{0} {0} 1", ::getegid());
  constexpr long kFlags = CLONE_NEWUSER | CLONE_NEWPID | CLONE_NEWNS | SIGCHLD;
  const auto pid = static_cast<pid_t>(::syscall(SYS_clone, kFlags, nullptr, nullptr, nullptr, 0L));
  if (pid != 0) return pid;
  WriteTo("/proc/self/setgroups", "deny");
  WriteTo("/proc/self/uid_map", uid_map);
  WriteTo("/proc/self/gid_map", gid_map);
  if (::mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) < 0) ::_exit(kNoNamespaces);
  if (::mount("proc", "/proc", "proc", 0, nullptr) < 0) ::_exit(kNoNamespaces);
  ::_exit(stage());
}

inline int StatusOf(pid_t child) {
  int status = 0;
  EXPECT_EQ(::waitpid(child, &status, 0), child);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

// Reads until `end` returns true or the file ends, or gives up after more time than any test should take.
inline std::string ReadUntil(int fd, const std::function<bool(std::string_view)>& end) {
  std::string text;
  while (!end(text)) {
    pollfd poll = {fd, POLLIN, 0};
    if (::poll(&poll, 1, static_cast<int>(support::kPatience.count())) <= 0) {
      ADD_FAILURE() << "only got: " << text;
      break;
    }
    char buffer[4096];
    const ssize_t n = sys::Read(fd, buffer, sizeof buffer);
    if (n <= 0) break;  // a terminal ends with EIO
    text.append(buffer, static_cast<size_t>(n));
  }
  return text;
}

inline std::string ReadAll(int fd) {
  return ReadUntil(fd, [](std::string_view) { return false; });
}

struct Outcome {
  int status;
  std::string out, err;
};

// RunningStage is a stage that has been started. Its streams are pipes.
class RunningStage {
 public:
  explicit RunningStage(const InnerOrders& orders, const std::function<void()>& prepare = [] {}) {
    const auto out = sys::MakePipe(sys::OurEnd::kRead), err = sys::MakePipe(sys::OurEnd::kRead);
    pid_ = CloneFirstProcess([&] {
      ::dup2(::open("/dev/null", O_RDONLY | O_CLOEXEC), STDIN_FILENO);
      ::dup2(out->write_end.get(), STDOUT_FILENO);
      ::dup2(err->write_end.get(), STDERR_FILENO);
      prepare();
      return RunInnerStage(orders);
    });
    if (pid_ < 0) return;
    out_ = OwnedFd(::dup(out->read_end.get()));
    err_ = OwnedFd(::dup(err->read_end.get()));
    if (auto pidfd = sys::OpenPidfd(pid_)) pidfd_ = *std::move(pidfd);
  }
  ~RunningStage() {
    Signal(SIGKILL);
    if (pid_ > 0) ::waitpid(pid_, nullptr, 0);
  }
  RunningStage(const RunningStage&) = delete;
  RunningStage& operator=(const RunningStage&) = delete;

  void AwaitOutput(std::string_view text) {
    EXPECT_THAT(ReadUntil(out_.get(), [&](std::string_view got) { return got.contains(text); }),
                testing::HasSubstr(text));
  }

  Outcome Finish() {
    Outcome outcome = {.status = kNoNamespaces, .out = ReadAll(out_.get()), .err = ReadAll(err_.get())};
    if (testing::Test::HasFailure()) Signal(SIGKILL);  // the process may wait for ever
    if (pid_ > 0) outcome.status = StatusOf(std::exchange(pid_, -1));
    return outcome;
  }

  // The pid of a stage that could not be started is -1, and kill(-1) would reach every process.
  void Signal(int signal) const {
    if (pid_ > 0) ::kill(pid_, signal);
  }

  pid_t pid() const { return pid_; }
  int pidfd() const { return pidfd_.get(); }
  int out() const { return out_.get(); }

 private:
  pid_t pid_ = -1;
  OwnedFd pidfd_, out_, err_;
};

class InnerStageFixture : public testing::Test {
 protected:
  void SetUp() override {
    if (Shell("true").status == kNoNamespaces) GTEST_SKIP() << "namespaces are not permitted here";
  }

  // Returns orders under which the test's directory is writable and devices are usable.
  InnerOrders Orders(const std::vector<std::string>& argv) const {
    return {.command = {.program = argv.empty() ? "" : argv[0], .argv = argv, .cwd = scratch_.path()},
            .landlock = {{"/", LandlockRule::Rights::kRead},
                         {"/dev", LandlockRule::Rights::kWrite},
                         {scratch_.path(), LandlockRule::Rights::kWrite}}};
  }
  InnerOrders Script(std::string script) const { return Orders({"/bin/sh", "-c", std::move(script)}); }

  static Outcome Finish(const InnerOrders& orders) { return RunningStage(orders).Finish(); }
  Outcome Shell(std::string script) const { return Finish(Script(std::move(script))); }

  support::ScratchDir scratch_;
};

}  // namespace holdfast::sandbox
