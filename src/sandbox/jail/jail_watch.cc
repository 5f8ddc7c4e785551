#include "sandbox/jail/jail_watch.h"

#include <poll.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <csignal>

#include <fmt/format.h>

#include "sandbox/jail/lifeline.h"
#include "sys/exit_status.h"
#include "sys/io.h"
#include "sys/pidfd.h"
#include "sys/raw_children.h"

namespace holdfast::sandbox {
namespace {

using namespace std::chrono_literals;

constexpr std::array kWatched = {SIGTERM, SIGINT,   SIGHUP,  SIGQUIT, SIGUSR1,
                                 SIGUSR2, SIGWINCH, SIGTSTP, SIGCONT, SIGCHLD};
constexpr auto kGrace = 10s;       // from a signal that asks the command to end until it is killed
constexpr auto kRetryMs = 10;      // the pause when pid 1 does not read what it was sent
constexpr size_t kMaxText = 4000;  // the bytes that are kept of a pipe

bool AsksToEnd(int signal) { return signal == SIGTERM || signal == SIGHUP; }

// Reads everything, so that no writer waits for room in the pipe, and keeps the beginning.
void ReadInto(std::string& text, OwnedFd& pipe) {
  char buffer[1024];
  const ssize_t n = sys::Read(pipe.get(), buffer, sizeof buffer);
  if (n <= 0) return pipe.Reset();
  text.append(buffer, std::min(static_cast<size_t>(n), kMaxText - text.size()));
}

void ReadWhatIsThere(std::string& text, OwnedFd& pipe) {
  while (pipe.is_open()) {
    pollfd ready = {pipe.get(), POLLIN, 0};
    if (::poll(&ready, 1, 0) <= 0) return;
    ReadInto(text, pipe);
  }
}

// Stops this process by its own SIGTSTP, so that the kernel applies its usual rule: a process that no shell could
// continue is not stopped.
void StopSelf() {
  sigset_t stop, before;
  ::sigemptyset(&stop);
  ::sigaddset(&stop, SIGTSTP);
  (void)::kill(::getpid(), SIGTSTP);
  ::sigprocmask(SIG_UNBLOCK, &stop, &before);
  ::sigprocmask(SIG_SETMASK, &before, nullptr);
}

bool IsInOtherPidNamespace(pid_t pid) {
  struct stat theirs, ours;
  return ::stat(fmt::format("/proc/{}/ns/pid", pid).c_str(), &theirs) == 0 && ::stat("/proc/self/ns/pid", &ours) == 0 &&
         theirs.st_ino != ours.st_ino;
}

// A bubblewrap that is killed early leaves a child behind that waits for it for ever. That child has become a child of
// this process, which is a subreaper.
void KillOrphans() {
  constexpr int kMostProcesses = 1 << 16;  // a bound, because other processes may start more during the search
  auto processes = sys::raw::ProcessList::Open();
  if (processes.proc < 0) return;  // without /proc the child cannot be found
  (void)sys::raw::VisitChildren(processes, kMostProcesses, [](pid_t pid) {
    if (!IsInOtherPidNamespace(pid)) return;
    ::kill(pid, SIGKILL);
    ::waitpid(pid, nullptr, 0);
  });
  processes.Close();
}

}  // namespace

OwnedFd JailWatch::BlockSignals() {
  sigset_t set;
  ::sigemptyset(&set);
  for (const int signal : kWatched) ::sigaddset(&set, signal);
  ::sigprocmask(SIG_BLOCK, &set, nullptr);
  return OwnedFd(::signalfd(-1, &set, SFD_CLOEXEC));
}

int JailWatch::AwaitInner() {
  while (!ended_ && !inner_.is_open()) Step();
  return inner_.get();
}

void JailWatch::AllowStart() {
  SendGo(pipes_.lifeline.get());
  may_start_ = true;
}

bool JailWatch::HasReport() {
  ReadWhatIsThere(report_, pipes_.report);
  return report_.contains('\n');
}

std::optional<std::string> JailWatch::AwaitReport() {
  while (!ended_ && !report_.contains('\n')) Step();
  if (ended_) {
    // No process that could write to the pipes is alive, so reading does not block.
    ReadWhatIsThere(report_, pipes_.report);
    ReadWhatIsThere(complaints_, pipes_.complaints);
  }
  pipes_.report.Reset();
  return report_.contains('\n') ? std::optional(report_.substr(0, report_.find('\n') + 1)) : std::nullopt;
}

int JailWatch::AwaitEnd() {
  while (!ended_) Step();
  return *ended_;
}

void JailWatch::Step() {
  if (Reap()) return;
  pollfd fds[] = {{signals_.get(), POLLIN, 0},
                  {polls_complaints_ ? pipes_.complaints.get() : -1, POLLIN, 0},  // poll leaves -1 out
                  {pipes_.report.get(), POLLIN, 0},
                  {inner_.is_open() ? -1 : pipes_.lifeline.get(), POLLIN, 0}};
  if (::poll(fds, std::size(fds), TimeLeftMs()) < 0) return;
  if (fds[0].revents != 0) ReadSignal();
  if (fds[1].revents != 0) ReadInto(complaints_, pipes_.complaints);
  if (fds[2].revents != 0) ReadInto(report_, pipes_.report);
  if (fds[3].revents != 0) ReadAnnouncement();
  SendPending();
  if (kill_at_ && Clock::now() >= *kill_at_) KillAll();
}

bool JailWatch::Reap() {
  int status = 0;
  if (::waitpid(child_, &status, WNOHANG) != child_) return false;
  ended_ = sys::ExitStatusOf(status);
  EndInside();
  return true;
}

// A bubblewrap that is killed leaves pid 1 of the sandbox behind.
void JailWatch::EndInside() {
  if (!inner_.is_open()) return KillOrphans();
  (void)sys::KillAndAwaitEnd(inner_.get());  // pid 1 is killed, even when the wait fails
}

int JailWatch::TimeLeftMs() const {
  if (may_start_ && !pending_.empty()) return kRetryMs;
  if (!kill_at_) return -1;
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(*kill_at_ - Clock::now());
  return static_cast<int>(std::max<int64_t>(left.count(), 0));
}

void JailWatch::ReadSignal() {
  signalfd_siginfo info;
  if (sys::Read(signals_.get(), &info, sizeof info) != sizeof info) return;
  OnSignal(static_cast<int>(info.ssi_signo));
}

void JailWatch::OnSignal(int signal) {
  if (signal == SIGCHLD) return;
  was_signalled_ = true;
  if (AsksToEnd(signal) && !kill_at_) kill_at_ = Clock::now() + kGrace;
  pending_.push_back(signal);
  if (signal != SIGTSTP) return;
  SendPending();
  StopSelf();
  pending_.push_back(SIGCONT);  // also when the kernel has not stopped this process
}

// A closed descriptor means that no process is left which could announce itself: the child is about to end.
void JailWatch::ReadAnnouncement() {
  inner_ = ReceiveAnnouncement(pipes_.lifeline.get());
  if (!inner_.is_open()) pipes_.lifeline.Reset();
}

void JailWatch::SendPending() {
  if (!may_start_) return;
  const auto refused =
      std::ranges::find_if(pending_, [this](int signal) { return !SendSignalFor(pipes_.lifeline.get(), signal); });
  pending_.erase(pending_.begin(), refused);
}

// The end of pid 1 is the end of all processes in its pid namespace.
void JailWatch::KillAll() {
  kill_at_.reset();
  if (inner_.is_open()) sys::SendSignal(inner_.get(), SIGKILL);
  ::kill(child_, SIGKILL);
}

}  // namespace holdfast::sandbox
