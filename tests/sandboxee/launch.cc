#include "sandboxee/launch.h"

#include <fcntl.h>
#include <grp.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>

#include <gtest/gtest.h>

#include "base/owned_fd.h"
#include "support/eventually.h"
#include "support/proc.h"
#include "sys/io.h"

namespace holdfast::sandboxee {
namespace {

std::vector<char*> Pointers(const Strings& words) {
  std::vector<char*> pointers;
  for (const std::string& word : words)
    pointers.push_back(const_cast<char*>(word.c_str()));  // exec does not change them
  pointers.push_back(nullptr);
  return pointers;
}

bool BecomeInChild(uid_t user) noexcept {
  if (user == ::geteuid()) return true;
  return ::setgroups(0, nullptr) == 0 && ::setgid(user) == 0 && ::setuid(user) == 0;
}

[[noreturn]] void ExecInChild(const Launch& launch, int out, int err) noexcept {
  constexpr rlimit no_core = {0, 0};
  ::setrlimit(RLIMIT_CORE, &no_core);
  ::setsid();
  const int in = launch.standard_input >= 0 ? launch.standard_input : ::open("/dev/null", O_RDONLY | O_CLOEXEC);
  // The descriptors are copied to numbers above their targets first, so that none overwrites another.
  const int from[] = {in, out, err, launch.third};
  int lifted[4];
  for (int i = 0; i < 4; ++i) lifted[i] = from[i] < 0 ? -1 : ::fcntl(from[i], F_DUPFD, 100);
  ::close_range(0, 99, 0);
  for (int i = 0; i < 4; ++i) {
    if (lifted[i] >= 0) ::dup2(lifted[i], i);
  }
  ::close_range(100, ~0u, 0);
  const std::vector<char*> argv = Pointers(launch.words), environment = Pointers(launch.environment);
  if (BecomeInChild(launch.user) && ::chdir(launch.directory.c_str()) == 0) {
    ::execve(argv[0], argv.data(), environment.data());
  }
  ::_exit(99);
}

// Returns false at the end of the file.
bool ReadMore(OwnedFd& fd, std::string& text) {
  char buffer[4096];
  const ssize_t n = sys::Read(fd.get(), buffer, sizeof buffer);
  if (n > 0) text.append(buffer, static_cast<size_t>(n));
  if (n <= 0) fd.Reset();
  return n > 0;
}

}  // namespace

Outcome RunToEnd(const Launch& launch) {
  auto out = sys::MakePipe(sys::OurEnd::kRead), err = sys::MakePipe(sys::OurEnd::kRead);
  const pid_t child = ::fork();
  if (child == 0) ExecInChild(launch, out->write_end.get(), err->write_end.get());
  out->write_end.Reset();
  err->write_end.Reset();
  Outcome outcome{};
  while (out->read_end.is_open() || err->read_end.is_open()) {
    pollfd ends[] = {{out->read_end.get(), POLLIN, 0}, {err->read_end.get(), POLLIN, 0}};
    if (::poll(ends, 2, static_cast<int>(support::kPatience.count())) <= 0) {
      ADD_FAILURE() << launch.words[0] << " does not end";
      ::kill(child, SIGKILL);
      break;
    }
    if (ends[0].revents != 0) ReadMore(out->read_end, outcome.out);
    if (ends[1].revents != 0) ReadMore(err->read_end, outcome.err);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  outcome.status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  return outcome;
}

Sleeper::Sleeper(uid_t user, const std::string& directory) : pid_(::fork()) {
  if (pid_ == 0) {
    if (!BecomeInChild(user) || ::chdir(directory.c_str()) < 0) ::_exit(99);
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);  // set after the change of user, which clears it
    ::execl("/bin/sleep", "sleep", "1000", nullptr);
    ::_exit(99);
  }
  // Only after the execution does the process belong to the user in every way.
  EXPECT_TRUE(support::Eventually([&] { return support::ReadProcFile(pid_, "comm") == "sleep\n"; }));
}

Sleeper::~Sleeper() {
  if (pid_ <= 0) return;
  ::kill(pid_, SIGKILL);
  ::waitpid(pid_, nullptr, 0);
}

}  // namespace holdfast::sandboxee
