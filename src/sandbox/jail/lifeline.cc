#include "sandbox/jail/lifeline.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "sys/inherit.h"
#include "sys/io.h"
#include "sys/pidfd.h"
#include "sys/socket_pair.h"

namespace holdfast::sandbox {
namespace {

constexpr char kHere = 'h', kGo = 'g', kEnded = 'e';  // the exit status follows

// A failure means that the other stage is gone, which this stage learns elsewhere.
void Send(int fd, char letter) { (void)::send(fd, &letter, 1, MSG_NOSIGNAL); }

// The inner stage waits for the answer, so its number cannot belong to another process yet.
OwnedFd PidfdOfSender(msghdr& message) {
  const cmsghdr* const header = CMSG_FIRSTHDR(&message);
  if (header == nullptr || header->cmsg_type != SCM_CREDENTIALS) return {};
  ucred sender;
  std::memcpy(&sender, CMSG_DATA(header), sizeof sender);
  auto pidfd = sys::OpenPidfd(sender.pid);
  return pidfd ? *std::move(pidfd) : OwnedFd();
}

std::optional<int> ReadExitStatus(int fd) {
  unsigned char status;
  return sys::Read(fd, &status, 1) == 1 ? std::optional<int>(status) : std::nullopt;
}

}  // namespace

Result<LifelineEnds> MakeLifeline() {
  TRY(sys::SocketPair pair, sys::MakeSocketPair(sys::SocketKind::kStream));
  LifelineEnds line{.outer = std::move(pair.ours), .inner = std::move(pair.theirs)};
  const int yes = 1;
  if (::setsockopt(line.outer.get(), SOL_SOCKET, SO_PASSCRED, &yes, sizeof yes) < 0) {
    return FailErrno("setsockopt", "SO_PASSCRED");
  }
  TRY_VOID(sys::LetInherit(line.inner.get()));
  return line;
}

InnerWord ReceiveFromInner(int outer) {
  char letter = 0;
  iovec piece = {&letter, 1};
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(ucred))];
  msghdr message = {};
  message.msg_iov = &piece;
  message.msg_iovlen = 1;
  message.msg_control = control;
  message.msg_controllen = sizeof control;
  ssize_t n;
  do {
    n = ::recvmsg(outer, &message, MSG_CMSG_CLOEXEC);
  } while (n < 0 && errno == EINTR);
  if (n == 1 && letter == kHere) return {.announced = PidfdOfSender(message)};
  if (n == 1 && letter == kEnded) return {.exit_status = ReadExitStatus(outer)};
  return {};
}

void SendGo(int outer) { Send(outer, kGo); }

// SIGIO is not a queued signal: the command could fill the queue of real-time signals, and one SIGIO is enough.
Result<> Lifeline::Arm() const {
  const int flags = ::fcntl(fd_, F_GETFL);
  if (flags < 0 || ::fcntl(fd_, F_SETFD, FD_CLOEXEC) < 0 || ::fcntl(fd_, F_SETOWN, ::getpid()) < 0 ||
      ::fcntl(fd_, F_SETFL, flags | O_ASYNC) < 0) {
    return FailErrno("fcntl", "lifeline");
  }
  return {};
}

void Lifeline::Announce() const { Send(fd_, kHere); }

bool Lifeline::AwaitGo() const {
  char letter = 0;
  return sys::Read(fd_, &letter, 1) == 1 && letter == kGo;
}

// The message is written as to a file, because the filter of pid 1 has rules about messages of sockets. A failure means
// that the outer stage is gone.
void Lifeline::TellEnd(int exit_status) const {
  const char message[] = {kEnded, static_cast<char>(exit_status)};
  (void)sys::Write(fd_, message, sizeof message);
}

bool Lifeline::IsCut() const {
  pollfd line = {fd_, 0, 0};
  return ::poll(&line, 1, 0) == 1;
}

}  // namespace holdfast::sandbox
