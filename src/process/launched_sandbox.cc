#include "process/launched_sandbox.h"

#include <poll.h>
#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <iterator>
#include <string>
#include <utility>

#include "sys/message_sender.h"
#include "sys/pidfd.h"

namespace holdfast::process {
namespace {

using namespace std::chrono_literals;
constexpr auto kKillPatience = 1s;
constexpr const char* kNoReport = "pid 1 of the sandbox ended before the command was started";

bool HasHungUp(int socket) {
  pollfd look = {.fd = socket, .events = POLLRDHUP, .revents = 0};
  return ::poll(&look, 1, 0) == 1;
}

// Returns a pidfd of the process that has sent an event. It is not open if the process has ended: its pid may then
// belong to another one.
OwnedFd OpenSender(pid_t sender, int socket) {
  auto pidfd = sys::OpenPidfd(sender);
  return pidfd && !HasHungUp(socket) ? *std::move(pidfd) : OwnedFd();
}

}  // namespace

struct LaunchedSandbox::Received {
  ssize_t size = 0;  // 0 at the end of the socket; -errno after a failure
  KeeperEvent event = {};
  std::array<char, kMaxReasonBytes> text;

  bool is_event() const {
    const bool may_have_text = event.kind == KeeperEventKind::kNotStarted;
    return may_have_text ? size >= ssize_t{sizeof event} : size == ssize_t{sizeof event};
  }
  std::string reason() const { return {text.data(), static_cast<size_t>(size) - sizeof event}; }
  OwnedFd fd;
  pid_t sender = 0;
};

Result<sys::SocketPair> LaunchedSandbox::MakeControl() {
  TRY(sys::SocketPair control, sys::MakePacketPair());
  TRY_VOID(sys::AskForSenders(control.ours.get()));
  return control;
}

LaunchedSandbox::LaunchedSandbox(loop::EventLoop& loop, OwnedFd control, CommandObserver& observer)
    : loop_(loop),
      observer_(observer),
      control_(std::move(control)),
      control_watch_(loop, control_.get(), [this] { OnReadable(); }),
      kill_timer_(loop, [this] { OnKillTimer(); }) {
  control_watch_.WatchReadable();
}

void LaunchedSandbox::Signal(int signal) { Send({KeeperInstructionKind::kSignal, signal}); }

void LaunchedSandbox::KillAll() {
  Send({KeeperInstructionKind::kKill, 0});
  if (!kill_timer_.running()) kill_timer_.Start(kKillPatience);
}

// Sending fails only if pid 1 is gone or does not read. OnControlEnded handles the first, the kill timer the second. An
// instruction that comes before pid 1 exists waits in the socket.
void LaunchedSandbox::Send(KeeperInstruction instruction) {
  if (first_process_.is_open()) sys::SendSignal(first_process_.get(), SIGCONT);  // it may have been stopped
  (void)::send(control_.get(), &instruction, sizeof instruction, MSG_NOSIGNAL | MSG_DONTWAIT);
}

LaunchedSandbox::Received LaunchedSandbox::Receive() const {
  Received received;
  iovec pieces[] = {{&received.event, sizeof received.event}, {received.text.data(), received.text.size()}};
  alignas(cmsghdr) char space[CMSG_SPACE(sizeof(int)) + sys::kSenderSpace];
  msghdr message = {};
  message.msg_iov = pieces;
  message.msg_iovlen = std::size(pieces);
  message.msg_control = space;
  message.msg_controllen = sizeof space;
  do {
    received.size = ::recvmsg(control_.get(), &message, MSG_CMSG_CLOEXEC | MSG_DONTWAIT);
    // The kernel tells once that pid 1 has ended without reading an instruction. The events come after that.
  } while (received.size < 0 && (errno == EINTR || errno == ECONNRESET));
  if (received.size < 0) received.size = -errno;
  if (received.size <= 0) return received;
  received.sender = sys::SenderOf(message);
  for (cmsghdr* header = CMSG_FIRSTHDR(&message); header != nullptr; header = CMSG_NXTHDR(&message, header)) {
    if (header->cmsg_level != SOL_SOCKET || header->cmsg_type != SCM_RIGHTS) continue;
    int fd = -1;
    std::memcpy(&fd, CMSG_DATA(header), sizeof fd);
    received.fd = OwnedFd(fd);
  }
  return received;
}

void LaunchedSandbox::OnReadable() {
  for (;;) {
    Received received = Receive();
    if (received.size == -EAGAIN) return control_watch_.WatchReadable();
    if (!received.is_event()) return OnControlEnded();
    switch (received.event.kind) {
      case KeeperEventKind::kCloned:
        first_process_ = std::move(received.fd);
        break;
      case KeeperEventKind::kBegun:
        if (!begun_) OnBegun(received.sender);
        break;
      case KeeperEventKind::kStarted:
        Report(Enforcement{.backend = "native"});
        break;
      case KeeperEventKind::kNotStarted:
        Report(Fail(KindOfStatus(received.event.value), received.reason()));
        break;
      case KeeperEventKind::kExited:
        Report(Fail(ErrorKind::kSystem, kNoReport));
        if (begun_) observer_.OnExited(received.event.value);
        break;
      case KeeperEventKind::kStartFailed:
      case KeeperEventKind::kStopped:
        break;  // a keeper sends these
    }
  }
}

// A launcher that is killed right after it has made pid 1 does not send its pidfd.
void LaunchedSandbox::OnBegun(pid_t sender) {
  begun_ = true;
  if (!first_process_.is_open()) first_process_ = OpenSender(sender, control_.get());
  observer_.OnStarted(sender);
}

// Only the first report counts.
void LaunchedSandbox::Report(const Result<Enforcement>& outcome) {
  if (begun_ && !std::exchange(reported_, true)) observer_.OnReport(outcome);
}

// The kernel closes the control socket a moment before pid 1 counts as ended.
void LaunchedSandbox::OnControlEnded() {
  if (!begun_) return GiveUp();
  (void)::shutdown(control_.get(), SHUT_RDWR);  // ends a pid 1 that has sent something else than an event
  Report(Fail(ErrorKind::kSystem, kNoReport));
  OnEnded();
}

// If the launcher and the keeper of the launcher have been killed, pid 1 has become a child of the server.
void LaunchedSandbox::OnEnded() {
  if (first_process_.is_open() && !sys::HasEnded(first_process_.get())) {
    if (!end_watch_) end_watch_.emplace(loop_, first_process_.get(), [this] { OnEnded(); });
    return end_watch_->WatchReadable();
  }
  if (first_process_.is_open()) (void)sys::TryReap(first_process_.get());
  kill_timer_.Stop();
  end_watch_.reset();
  observer_.OnGone();
}

void LaunchedSandbox::OnKillTimer() {
  if (!first_process_.is_open()) return GiveUp();
  sys::SendSignal(first_process_.get(), SIGKILL);
}

// A pid 1 that is made after this finds the end of the socket, and ends without starting the command.
void LaunchedSandbox::GiveUp() {
  kill_timer_.Stop();
  (void)::shutdown(control_.get(), SHUT_RDWR);
  observer_.OnNotLaunched();
}

}  // namespace holdfast::process
