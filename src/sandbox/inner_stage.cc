#include "sandbox/inner_stage.h"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <climits>
#include <csignal>
#include <cstdlib>
#include <optional>
#include <ranges>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "sandbox/capabilities.h"
#include "sandbox/first_process.h"
#include "sandbox/landlock.h"
#include "sandbox/proxy_listener.h"
#include "sandbox/seccomp_filter.h"
#include "sandbox/terminal.h"
#include "sys/io.h"

namespace holdfast::sandbox {
namespace {

void Say(const Error& error) {
  const std::string line = fmt::format("holdfast-linux-sandbox: {}\n", error.message);
  (void)sys::Write(STDERR_FILENO, line.data(), line.size());  // without stderr there is nobody to tell
}

// Whatever the caller ignored or blocked, the command starts as from a fresh login. Until then nothing is lost.
void HoldSignals() {
  sigset_t all;
  ::sigfillset(&all);
  ::sigprocmask(SIG_SETMASK, &all, nullptr);
  // By the kernel's call: libc keeps 32 and 33 to itself, and what was started by posix_spawn has them ignored.
  struct {
    void* handler = nullptr;
    unsigned long flags = 0;
    void* restorer = nullptr;
    unsigned long mask = 0;
  } const default_action;
  for (int signal = 1; signal < NSIG; ++signal) {
    (void)::syscall(SYS_rt_sigaction, signal, &default_action, nullptr, sizeof default_action.mask);
  }
}

void LetSignalsIn() {
  sigset_t none;
  ::sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
}

// A number that is closed would be given to the next file that is opened. A directory leads around every mount.
Result<> CheckStream(int fd) {
  struct stat status;
  if (::fstat(fd, &status) < 0) {
    const int opened = ::open("/dev/null", O_RDWR);  // passes to the command
    if (opened == fd) return {};
    return std::unexpected(ErrnoError("open", "/dev/null", opened < 0 ? errno : EBADF));
  }
  if (!S_ISDIR(status.st_mode)) return {};
  return Fail(ErrorKind::kInvalidRequest, fmt::format("descriptor {}: is a directory", fd));
}

Result<> CheckStreams() {
  for (const int fd : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) TRY_VOID(CheckStream(fd));
  return {};
}

// The standard streams, and `kept`, which is in rising order.
Result<> PassOnly(std::span<const int> kept) {
  unsigned first = STDERR_FILENO + 1;
  for (const int fd : kept) {
    if (::fcntl(fd, F_SETFD, 0) < 0) {
      return std::unexpected(ErrnoError("fcntl", fmt::format("descriptor {}", fd), errno));
    }
    const auto number = static_cast<unsigned>(fd);
    if (first < number) ::close_range(first, number - 1, 0);
    first = number + 1;
  }
  if (::close_range(first, UINT_MAX, 0) < 0) return std::unexpected(ErrnoError("close_range", "", errno));
  return {};
}

Result<> RestrictFiles(const InnerOrders& orders) {
  LandlockOptions options;
  options.rules = orders.landlock;
  options.passed_fds = {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO};
  options.passed_fds.insert(options.passed_fds.end(), orders.kept_fds.begin(), orders.kept_fds.end());
  TRY(const int abi, Restrict(options));
  if (abi == 0 && orders.landlock_required) return Fail(ErrorKind::kInvalidRequest, "landlock: not in this kernel");
  return {};
}

// From here on pid 1 can do no more than the command, which inherits all of it.
Result<> Confine(const InnerOrders& orders) {
  TRY_VOID(RestrictFiles(orders));
  return InstallFilter(MakeFilter(orders.filter));
}

// Whether a directory of PATH has a file of this name.
bool IsOnPath(const std::string& name) {
  const char* const path = ::getenv("PATH");
  if (path == nullptr) return true;
  for (const auto directory : std::views::split(std::string_view(path), ':')) {
    const std::string file = std::string(std::string_view(directory)) + "/" + name;
    if (::access(file.c_str(), F_OK) == 0) return true;
  }
  return false;
}

// As execvp does it: by PATH, and a script without an interpreter's name by /bin/sh. A directory that may not be
// searched is no reason to say that a program which is nowhere may not be executed.
int Execute(const std::vector<std::string>& argv) {
  std::vector<char*> words;
  words.reserve(argv.size() + 1);
  for (const std::string& word : argv) words.push_back(const_cast<char*>(word.c_str()));
  words.push_back(nullptr);
  ::execvp(words[0], words.data());
  int error = errno;
  if (error == EACCES && !argv[0].contains('/') && !IsOnPath(argv[0])) error = ENOENT;
  Say(ErrnoError("exec", argv[0], error));
  return error == ENOENT ? 127 : 126;
}

enum class Turn { kCommand, kOthers };  // on the terminal

[[noreturn]] void RunInChild(const InnerOrders& orders, const Terminal* terminal, Turn turn) {
  ::setpgid(0, 0);
  if (turn == Turn::kCommand) terminal->GiveTo(::getpid());
  LetSignalsIn();
  ::_exit(Execute(orders.argv));
}

// Nothing of the command's is held open here: who reads its output sees the end when the command closes it.
void ReleaseDescriptors(std::span<const int> kept) {
  ::close_range(STDIN_FILENO, STDERR_FILENO, 0);
  for (const int fd : kept) ::close(fd);
}

Result<int> StartAndFollow(const InnerOrders& orders, const Terminal* terminal) {
  const Turn turn = terminal != nullptr && terminal->InForeground() ? Turn::kCommand : Turn::kOthers;
  const pid_t command = ::fork();
  if (command < 0) return std::unexpected(ErrnoError("fork", "", errno));
  if (command == 0) RunInChild(orders, terminal, turn);
  ::setpgid(command, command);  // whoever is first: a signal for the group must find it
  ReleaseDescriptors(orders.kept_fds);
  return FirstProcess(command, terminal).Run();
}

Result<int> Run(const InnerOrders& orders) {
  if (::getpid() != 1) return Fail(ErrorKind::kInvalidRequest, "inner stage: not pid 1");
  // Nobody inside may read or change this process, not even with its user id.
  if (::prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) < 0) return std::unexpected(ErrnoError("prctl", "dumpable", errno));
  HoldSignals();
  TRY_VOID(CheckStreams());
  if (orders.proxy) TRY_VOID(OpenProxyListeners(*orders.proxy));
  TRY_VOID(PassOnly(orders.kept_fds));
  TRY_VOID(DropCapabilities());
  const std::optional<Terminal> found = Terminal::OfStreams();
  const Terminal* const terminal = found ? &*found : nullptr;
  // Fails when it has been done already.
  if (terminal == nullptr) (void)::setsid();
  if (!orders.working_directory.empty() && ::chdir(orders.working_directory.c_str()) < 0) {
    Say(ErrnoError("chdir", orders.working_directory, errno));
    return 1;
  }
  TRY_VOID(Confine(orders));
  return StartAndFollow(orders, terminal);
}

}  // namespace

int RunInnerStage(const InnerOrders& orders) {
  const Result<int> status = Run(orders);
  if (!status) {
    Say(status.error());
    return kRefusedStatus;
  }
  (void)::kill(-1, SIGKILL);  // nobody may be left
  return *status;
}

}  // namespace holdfast::sandbox
