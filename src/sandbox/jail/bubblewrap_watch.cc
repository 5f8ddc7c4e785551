#include "sandbox/jail/bubblewrap_watch.h"

#include <poll.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <csignal>

#include <fmt/format.h>

#include "sandbox/jail/first_process.h"
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
constexpr auto kGrace = 10s;       // between a request to end and the end
constexpr auto kRetryMs = 10;      // when pid 1 has no room for another order
constexpr size_t kMaxText = 4000;  // of what is kept

bool AsksToEnd(int signal) { return signal == SIGTERM || signal == SIGHUP; }

// All of it is read, so that nobody waits for room in the pipe, and the beginning is kept.
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

// As the kernel does it by itself: not where nobody could continue the process.
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

// A bubblewrap that is killed at once leaves a child behind that waits for it for ever. It has become a child of this
// process.
void KillOrphans() {
  constexpr int kMostProcesses = 1 << 16;  // others may start more for as long as this looks
  auto processes = sys::raw::ProcessList::Open();
  if (processes.proc < 0) return;  // without /proc nobody can be found
  (void)sys::raw::VisitChildren(processes, kMostProcesses, [](pid_t pid) {
    if (!IsInOtherPidNamespace(pid)) return;
    ::kill(pid, SIGKILL);
    ::waitpid(pid, nullptr, 0);
  });
  processes.Close();
}

}  // namespace

OwnedFd BubblewrapWatch::BlockSignals() {
  sigset_t set;
  ::sigemptyset(&set);
  for (const int signal : kWatched) ::sigaddset(&set, signal);
  ::sigprocmask(SIG_BLOCK, &set, nullptr);
  return OwnedFd(::signalfd(-1, &set, SFD_CLOEXEC));
}

int BubblewrapWatch::AwaitInner() {
  while (!ended_ && !inner_.is_open()) Step();
  return inner_.get();
}

void BubblewrapWatch::LetGo() { SayGo(pipes_.lifeline.get()); }

std::optional<std::string> BubblewrapWatch::AwaitReport() {
  while (!ended_ && !report_.contains('\n')) Step();
  if (ended_) {
    // All who could write are dead.
    ReadWhatIsThere(report_, pipes_.report);
    ReadWhatIsThere(complaints_, pipes_.complaints);
  }
  pipes_.report.Reset();
  return report_.contains('\n') ? std::optional(report_.substr(0, report_.find('\n') + 1)) : std::nullopt;
}

int BubblewrapWatch::AwaitEnd() {
  while (!ended_) Step();
  return *ended_;
}

void BubblewrapWatch::Step() {
  if (Reap()) return;
  pollfd fds[] = {{signals_.get(), POLLIN, 0},
                  {pipes_.complaints.get(), POLLIN, 0},  // a closed one is -1, and left out
                  {pipes_.report.get(), POLLIN, 0},
                  {inner_.is_open() ? -1 : pipes_.lifeline.get(), POLLIN, 0}};
  if (::poll(fds, std::size(fds), TimeLeftMs()) < 0) return;
  if (fds[0].revents != 0) ReadSignal();
  if (fds[1].revents != 0) ReadInto(complaints_, pipes_.complaints);
  if (fds[2].revents != 0) ReadInto(report_, pipes_.report);
  if (fds[3].revents != 0) ReadPresence();
  SendPending();
  if (kill_at_ && Clock::now() >= *kill_at_) KillAll();
}

bool BubblewrapWatch::Reap() {
  int status = 0;
  if (::waitpid(bubblewrap_, &status, WNOHANG) != bubblewrap_) return false;
  ended_ = sys::ExitStatusOf(status);
  EndInside();
  return true;
}

// A bubblewrap that is killed leaves pid 1 behind.
void BubblewrapWatch::EndInside() {
  if (!inner_.is_open()) return KillOrphans();
  (void)sys::KillAndAwaitEnd(inner_.get());  // it is killed, however the wait goes
}

int BubblewrapWatch::TimeLeftMs() const {
  if (inner_.is_open() && !pending_.empty()) return kRetryMs;
  if (!kill_at_) return -1;
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(*kill_at_ - Clock::now());
  return static_cast<int>(std::max<int64_t>(left.count(), 0));
}

void BubblewrapWatch::ReadSignal() {
  signalfd_siginfo info;
  if (sys::Read(signals_.get(), &info, sizeof info) != sizeof info) return;
  TakeSignal(static_cast<int>(info.ssi_signo));
}

void BubblewrapWatch::TakeSignal(int signal) {
  if (signal == SIGCHLD) return;
  if (AsksToEnd(signal) && !kill_at_) kill_at_ = Clock::now() + kGrace;
  pending_.push_back(signal);
  if (signal != SIGTSTP) return;
  SendPending();
  StopSelf();
  pending_.push_back(SIGCONT);  // also when it has not come to a stop
}

// Nobody who could say it is left when nothing comes: bubblewrap's end is near.
void BubblewrapWatch::ReadPresence() {
  inner_ = TakePresence(pipes_.lifeline.get());
  if (!inner_.is_open()) pipes_.lifeline.Reset();
}

void BubblewrapWatch::SendPending() {
  if (!inner_.is_open()) return;
  const auto refused = std::ranges::find_if(pending_, [this](int signal) { return !SendOrder(inner_.get(), signal); });
  pending_.erase(pending_.begin(), refused);
}

// The end of pid 1 is the end of all in its namespace.
void BubblewrapWatch::KillAll() {
  kill_at_.reset();
  if (inner_.is_open()) sys::SendSignal(inner_.get(), SIGKILL);
  ::kill(bubblewrap_, SIGKILL);
}

}  // namespace holdfast::sandbox
