#include "support/test_host.h"

#include <fcntl.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>
#include <filesystem>

#include <gtest/gtest.h>

#include "support/eventually.h"
#include "support/proc.h"
#include "sys/io.h"
#include "sys/pidfd.h"

namespace holdfast::support {
namespace {

constexpr int kNamespaces = CLONE_NEWNET | CLONE_NEWPID | CLONE_NEWNS | CLONE_NEWUTS;

// The functions ...InChild run in a process that was forked from the test and has executed nothing. They report to the
// test through a pipe.
struct Report {
  pid_t child = -1;  // as the test numbers it
  int error = 0;
  char step[64] = {};
};

[[noreturn]] void FailInChild(int pipe, const char* step) {
  Report report = {.error = errno};
  ::strncpy(report.step, step, sizeof report.step - 1);
  (void)sys::Write(pipe, &report, sizeof report);  // without it the test notices the end of the pipe
  ::_exit(1);
}

// Forks a process whose parent is the test, and not the process that calls.
pid_t ForkForTestInChild(int flags) {
  return static_cast<pid_t>(::syscall(SYS_clone, CLONE_PARENT | SIGCHLD | flags, nullptr, nullptr, nullptr, nullptr));
}

void WriteInChild(const char* path, const std::string& text) {
  const int fd = ::open(path, O_WRONLY | O_CLOEXEC);
  (void)sys::Write(fd, text.data(), text.size());  // a map that is not written makes the next step fail
  ::close(fd);
}

// Enters a user namespace in which the user of the test is root.
bool EnterUserNamespaceInChild() {
  const uid_t user = ::geteuid();
  const gid_t group = ::getegid();
  if (::unshare(CLONE_NEWUSER) < 0) return false;
  WriteInChild("/proc/self/setgroups", "deny");
  WriteInChild("/proc/self/uid_map", "0 " + std::to_string(user) + " 1");
  WriteInChild("/proc/self/gid_map", "0 " + std::to_string(group) + " 1");
  return true;
}

// The first process of the host. The kernel reaps the orphans that it inherits, because it ignores SIGCHLD.
[[noreturn]] void HoldInChild(int pipe, const std::string& hosts_file) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  ::signal(SIGCHLD, SIG_IGN);
  if (::mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) < 0) FailInChild(pipe, "make the mounts private");
  if (::mount("proc", "/proc", "proc", MS_NOSUID | MS_NODEV | MS_NOEXEC, nullptr) < 0) FailInChild(pipe, "mount /proc");
  if (::mount(hosts_file.c_str(), "/etc/hosts", nullptr, MS_BIND, nullptr) < 0) FailInChild(pipe, "mount /etc/hosts");
  const Report ready = {};
  if (sys::Write(pipe, &ready, sizeof ready) != sizeof ready) ::_exit(1);  // the test has ended already
  ::close_range(0, ~0u, 0);
  for (;;) ::pause();
}

[[noreturn]] void MakeHostInChild(int pipe, const std::string& hosts_file, int neighbour) {
  if (neighbour >= 0 && ::setns(neighbour, CLONE_NEWUSER) < 0) FailInChild(pipe, "enter the user namespace");
  pid_t child = ForkForTestInChild(kNamespaces);
  if (child < 0 && errno == EPERM && EnterUserNamespaceInChild()) child = ForkForTestInChild(kNamespaces);
  if (child < 0) FailInChild(pipe, "make namespaces");
  if (child == 0) HoldInChild(pipe, hosts_file);
  const Report made = {.child = child};
  (void)sys::Write(pipe, &made, sizeof made);  // fails only if the test has ended
  ::_exit(0);
}

Report ReadReport(int pipe) {
  Report report = {};
  if (sys::Read(pipe, &report, sizeof report) != sizeof report) return {.error = EPIPE, .step = "hear of the host"};
  return report;
}

bool IsOfOtherUserNamespace(pid_t pid) {
  namespace fs = std::filesystem;
  std::error_code gone;
  return fs::read_symlink("/proc/" + std::to_string(pid) + "/ns/user", gone) != fs::read_symlink("/proc/self/ns/user");
}

// Returns the other processes that are in the process namespace of `first`.
std::vector<pid_t> LivingBeside(pid_t first) {
  namespace fs = std::filesystem;
  const auto place_of = [](pid_t pid) {
    std::error_code gone;
    return fs::read_symlink("/proc/" + std::to_string(pid) + "/ns/pid", gone);
  };
  std::vector<pid_t> living;
  for (const pid_t pid : DescendantsOf(::getpid())) {
    if (pid != first && place_of(pid) == place_of(first) && IsAlive(pid)) living.push_back(pid);
  }
  return living;
}

// A report is shorter than PIPE_BUF, so two of them do not mix.
sys::Pipe MakeReportPipe() {
  auto pipe = sys::MakePipe(sys::OurEnd::kRead);
  EXPECT_TRUE(pipe && sys::SetBlocking(pipe->read_end.get(), sys::Blocking::kYes).has_value());
  return *std::move(pipe);
}

}  // namespace

TestHost::TestHost(const std::string& hosts_file, const TestHost* neighbour) {
  const bool shares = neighbour != nullptr && neighbour->has_user_namespace_;
  sys::Pipe pipe = MakeReportPipe();
  const pid_t maker = ::fork();
  if (maker == 0) MakeHostInChild(pipe.write_end.get(), hosts_file, shares ? neighbour->pidfd_.get() : -1);
  pipe.write_end.Reset();
  for (int reports = 0; reports < 2; ++reports) {  // one of the maker and one of the first process, in any order
    const Report report = ReadReport(pipe.read_end.get());
    if (report.child > 0) first_process_ = report.child;
    if (report.error != 0 && why_not_.empty()) why_not_ = std::string(report.step) + ": " + ErrnoText(report.error);
  }
  ::waitpid(maker, nullptr, 0);
  if (first_process_ <= 0) return;
  pidfd_ = sys::OpenPidfd(first_process_).value_or(OwnedFd());
  has_user_namespace_ = IsOfOtherUserNamespace(first_process_);
}

// The kernel lets the first process go when all others of the host have been reaped. The test reaps those that it has
// started.
TestHost::~TestHost() {
  if (!pidfd_.is_open()) return;
  Kill();
  EXPECT_TRUE(Eventually([this] { return ::waitpid(first_process_, nullptr, WNOHANG) != 0; }))
      << "a Program outlives its host";
}

void TestHost::Kill() {
  sys::SendSignal(pidfd_.get(), SIGKILL);
  EXPECT_TRUE(Eventually([this] { return LivingBeside(first_process_).empty(); }));
}

pid_t TestHost::Fork() const {
  sys::Pipe pipe = MakeReportPipe();
  const pid_t usher = ::fork();
  if (usher == 0) {
    const int user = has_user_namespace_ ? CLONE_NEWUSER : 0;
    if (::setns(pidfd_.get(), user | kNamespaces) < 0) FailInChild(pipe.write_end.get(), "enter the host");
    const pid_t child = ForkForTestInChild(0);
    if (child == 0) return 0;
    const Report report = {.child = child, .error = child < 0 ? errno : 0, .step = "fork"};
    (void)sys::Write(pipe.write_end.get(), &report, sizeof report);  // fails only if the test has ended
    ::_exit(0);
  }
  pipe.write_end.Reset();
  const Report report = ReadReport(pipe.read_end.get());
  ::waitpid(usher, nullptr, 0);
  EXPECT_EQ(report.error, 0) << report.step << ": " << ErrnoText(report.error);
  return report.child;
}

Program TestHost::Start(const std::vector<std::string>& words, int inherited) const {
  return Program(words, inherited, [this] { return Fork(); });
}

OwnedFd TestHost::OpenNetwork() const {
  const std::string path = "/proc/" + std::to_string(first_process_) + "/ns/net";
  return OwnedFd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
}

}  // namespace holdfast::support
