#include "sandbox/outer_stage.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <optional>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "sandbox/placeholders.h"

extern char** environ;

namespace holdfast::sandbox {
namespace {

using Clock = std::chrono::steady_clock;
using namespace std::chrono_literals;

constexpr std::array kPassedOn = {SIGTERM, SIGINT, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2, SIGWINCH};
constexpr auto kGrace = 10s;  // between a request to end and the end

bool AsksToEnd(int signal) { return signal == SIGTERM || signal == SIGHUP; }

// In memory, and inherited: nothing of it shows in a list of processes.
Result<OwnedFd> Sheet(const char* name, std::string_view text) {
  OwnedFd fd(::memfd_create(name, 0));
  if (!fd.is_open()) return std::unexpected(ErrnoError("memfd_create", name, errno));
  for (size_t done = 0; done < text.size();) {
    const ssize_t n = ::write(fd.get(), text.data() + done, text.size() - done);
    if (n < 0 && errno != EINTR) return std::unexpected(ErrnoError("write", name, errno));
    if (n > 0) done += static_cast<size_t>(n);
  }
  if (::lseek(fd.get(), 0, SEEK_SET) < 0) return std::unexpected(ErrnoError("lseek", name, errno));
  return fd;
}

std::string NulSeparated(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text.append(word).push_back('\0');
  return text;
}

struct Pipe {
  OwnedFd read_end, write_end;
};

// The write end is inherited.
Result<Pipe> StatusPipe() {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) < 0) return std::unexpected(ErrnoError("pipe", "", errno));
  Pipe pipe{OwnedFd(ends[0]), OwnedFd(ends[1])};
  if (::fcntl(pipe.write_end.get(), F_SETFD, 0) < 0) return std::unexpected(ErrnoError("fcntl", "", errno));
  return pipe;
}

sigset_t Signals(std::initializer_list<int> more) {
  sigset_t set;
  ::sigemptyset(&set);
  for (int signal : kPassedOn) ::sigaddset(&set, signal);
  for (int signal : more) ::sigaddset(&set, signal);
  return set;
}

// bubblewrap would die of what is meant for the command. The inner stage sets all of this right again.
[[noreturn]] void ExecInChild(int program, char* const* argv, pid_t parent) {
  for (int signal : kPassedOn) ::signal(signal, SIG_IGN);
  sigset_t none;
  ::sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() == parent) ::fexecve(program, argv, environ);
  constexpr std::string_view failed = "holdfast-linux-sandbox: cannot execute bubblewrap\n";
  (void)!::write(STDERR_FILENO, failed.data(), failed.size());
  ::_exit(1);
}

// "child-pid": N, as bubblewrap writes it before it sets anything up.
std::optional<pid_t> ChildPid(std::string_view status) {
  constexpr std::string_view key = "\"child-pid\":";
  const size_t at = status.find(key);
  if (at == std::string_view::npos) return std::nullopt;
  pid_t pid = 0;
  for (const char c : status.substr(at + key.size())) {
    if (c == ' ') continue;
    if (c < '0' || c > '9') break;
    pid = pid * 10 + (c - '0');
  }
  return pid > 0 ? std::optional(pid) : std::nullopt;
}

// Follows one bubblewrap until it has ended.
class Watch {
 public:
  Watch(pid_t bubblewrap, OwnedFd status, OwnedFd signals)
      : bubblewrap_(bubblewrap), status_(std::move(status)), signals_(std::move(signals)) {}

  int Run() {
    for (;;) {
      if (auto ended = TryReap()) return *ended;
      pollfd fds[] = {{signals_.get(), POLLIN, 0}, {status_.get(), POLLIN, 0}};
      (void)::poll(fds, status_.is_open() ? 2 : 1, TimeLeftMs());  // whatever it says, all is looked at
      if ((fds[0].revents & POLLIN) != 0) ReadSignal();
      if (status_.is_open() && fds[1].revents != 0) ReadStatus();
      if (kill_at_ && Clock::now() >= *kill_at_) KillAll();
    }
  }

 private:
  std::optional<int> TryReap() const {
    int status = 0;
    if (::waitpid(bubblewrap_, &status, WNOHANG) != bubblewrap_) return std::nullopt;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  }

  int TimeLeftMs() const {
    if (!kill_at_) return -1;
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(*kill_at_ - Clock::now());
    return static_cast<int>(std::max<int64_t>(left.count(), 0));
  }

  void ReadSignal() {
    signalfd_siginfo info;
    if (::read(signals_.get(), &info, sizeof info) != sizeof info) return;
    const auto signal = static_cast<int>(info.ssi_signo);
    if (signal == SIGCHLD) return;
    if (AsksToEnd(signal) && !kill_at_) kill_at_ = Clock::now() + kGrace;
    if (inner_.is_open()) {
      Send(signal);
    } else {
      pending_.push_back(signal);
    }
  }

  void ReadStatus() {
    char buffer[512];
    const ssize_t n = ::read(status_.get(), buffer, sizeof buffer);
    if (n <= 0) return status_.Reset();
    said_.append(buffer, static_cast<size_t>(n));
    const auto pid = inner_.is_open() ? std::nullopt : ChildPid(said_);
    if (!pid) return;
    inner_ = OwnedFd(static_cast<int>(::syscall(SYS_pidfd_open, *pid, 0)));
    for (int signal : std::exchange(pending_, {})) Send(signal);
  }

  void Send(int signal) const { (void)::syscall(SYS_pidfd_send_signal, inner_.get(), signal, nullptr, 0); }

  // The end of pid 1 is the end of all in its namespace.
  void KillAll() {
    kill_at_.reset();
    if (inner_.is_open()) Send(SIGKILL);
    ::kill(bubblewrap_, SIGKILL);
  }

  const pid_t bubblewrap_;
  OwnedFd status_, signals_;
  OwnedFd inner_;  // a pidfd
  std::string said_;
  std::vector<int> pending_;
  std::optional<Clock::time_point> kill_at_;
};

}  // namespace

Result<int> RunOuterStage(const Bubblewrap& bubblewrap, const Plan& plan, const InnerOrders& orders) {
  const sigset_t signals = Signals({SIGCHLD});
  ::sigprocmask(SIG_BLOCK, &signals, nullptr);
  OwnedFd signal_fd(::signalfd(-1, &signals, SFD_CLOEXEC));
  if (!signal_fd.is_open()) return std::unexpected(ErrnoError("signalfd", "", errno));

  TRY(const Placeholders placeholders, Placeholders::Make(plan.placeholders));
  TRY(BubblewrapArguments arguments, ArgumentsFor(plan));
  TRY(const OwnedFd orders_sheet, Sheet("orders", Encode(orders)));
  TRY(Pipe status, StatusPipe());
  const OwnedFd self(::open("/proc/self/exe", O_RDONLY));  // inherited
  if (!self.is_open()) return std::unexpected(ErrnoError("open", "/proc/self/exe", errno));
  arguments.words.insert(arguments.words.end(), {"--json-status-fd", std::to_string(status.write_end.get())});
  TRY(const OwnedFd arguments_sheet, Sheet("arguments", NulSeparated(arguments.words)));

  std::vector<std::string> words = {"bwrap",
                                    "--args",
                                    std::to_string(arguments_sheet.get()),
                                    "--",
                                    fmt::format("/proc/self/fd/{}", self.get()),
                                    kInnerStage,
                                    std::to_string(orders_sheet.get())};
  std::vector<char*> argv;
  argv.reserve(words.size() + 1);
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  const pid_t parent = ::getpid();
  const pid_t child = ::fork();
  if (child < 0) return std::unexpected(ErrnoError("fork", "", errno));
  if (child == 0) ExecInChild(bubblewrap.program.get(), argv.data(), parent);
  status.write_end.Reset();
  return Watch(child, std::move(status.read_end), std::move(signal_fd)).Run();
}

}  // namespace holdfast::sandbox
