#include "support/program.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <utility>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sys/exit_status.h"
#include "sys/io.h"

namespace holdfast::support {
namespace {

// The sanitizer does not look for leaks, because that needs ptrace, which the filter of the sandbox refuses.
[[noreturn]] void ExecInChild(const std::vector<std::string>& words, int out, int err, int inherited) noexcept {
  ::dup2(::open("/dev/null", O_RDONLY | O_CLOEXEC), STDIN_FILENO);
  ::dup2(out, STDOUT_FILENO);
  ::dup2(err, STDERR_FILENO);
  if (inherited >= 0) ::dup2(::fcntl(inherited, F_DUPFD_CLOEXEC, 10), 3);  // also where it is 3 itself
  ::setenv("ASAN_OPTIONS", "detect_leaks=0", 1);
  std::vector<char*> argv;
  for (const std::string& word : words) argv.push_back(const_cast<char*>(word.c_str()));  // exec only reads
  argv.push_back(nullptr);
  ::execvp(argv[0], argv.data());
  ::_exit(99);
}

// A program may be silent for longer than a server: it tries things that have time limits of their own.
constexpr int kSilenceMs = 180'000;

// Returns false at the end of the output.
bool ReadMore(int fd, std::string& text) {
  pollfd ready = {fd, POLLIN, 0};
  if (::poll(&ready, 1, kSilenceMs) <= 0) {
    ADD_FAILURE() << "only got: " << text;
    return false;
  }
  char buffer[4096];
  const ssize_t n = sys::Read(fd, buffer, sizeof buffer);
  if (n > 0) text.append(buffer, static_cast<size_t>(n));
  return n > 0;
}

}  // namespace

Program::Program(const std::vector<std::string>& words, int inherited, const std::function<pid_t()>& fork) {
  auto out = sys::MakePipe(sys::OurEnd::kRead), err = sys::MakePipe(sys::OurEnd::kRead);
  pid_ = fork();
  EXPECT_GE(pid_, 0) << words[0];
  if (pid_ == 0) ExecInChild(words, out->write_end.get(), err->write_end.get(), inherited);
  out_ = std::move(out->read_end);
  err_ = std::move(err->read_end);
}

Program::~Program() {
  if (pid_ <= 0) return;
  Signal(SIGKILL);
  ::waitpid(pid_, nullptr, 0);
}

// A pid of -1 would mean all processes of the machine.
void Program::Signal(int signal) const {
  if (pid_ > 0) ::kill(pid_, signal);
}

void Program::AwaitOutput(std::string_view text) {
  while (!out_text_.contains(text) && ReadMore(out_.get(), out_text_)) {
  }
  EXPECT_THAT(out_text_, testing::HasSubstr(text));
}

Outcome Program::Finish() {
  while (ReadMore(out_.get(), out_text_)) {
  }
  while (ReadMore(err_.get(), err_text_)) {
  }
  if (testing::Test::HasFailure()) Signal(SIGKILL);  // it may wait for ever
  int status = 255 << 8;                             // of a program that could not be started
  if (pid_ > 0) ::waitpid(std::exchange(pid_, -1), &status, 0);
  return {sys::ExitStatusOf(status), out_text_, err_text_};
}

}  // namespace holdfast::support
