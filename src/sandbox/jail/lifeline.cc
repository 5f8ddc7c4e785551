#include "sandbox/jail/lifeline.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "sys/io.h"
#include "sys/pidfd.h"
#include "sys/socket_pair.h"

namespace holdfast::sandbox {
namespace {

constexpr char kHere = 'h', kGo = 'g';

// Whoever is gone need not be told.
void Send(int fd, char word) { (void)::send(fd, &word, 1, MSG_NOSIGNAL); }

}  // namespace

Result<LifelineEnds> MakeLifeline() {
  TRY(sys::SocketPair pair, sys::MakeSocketPair(sys::SocketKind::kStream));
  LifelineEnds line{.outer = std::move(pair.ours), .inner = std::move(pair.theirs)};
  const int yes = 1;
  if (::setsockopt(line.outer.get(), SOL_SOCKET, SO_PASSCRED, &yes, sizeof yes) < 0) {
    return FailErrno("setsockopt", "SO_PASSCRED");
  }
  if (::fcntl(line.inner.get(), F_SETFD, 0) < 0) return FailErrno("fcntl");
  return line;
}

// The sender waits for an answer, so its number is still its own.
OwnedFd TakePresence(int outer) {
  char word = 0;
  iovec piece = {&word, 1};
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
  const cmsghdr* const header = n == 1 && word == kHere ? CMSG_FIRSTHDR(&message) : nullptr;
  if (header == nullptr || header->cmsg_type != SCM_CREDENTIALS) return {};
  ucred sender;
  std::memcpy(&sender, CMSG_DATA(header), sizeof sender);
  auto pidfd = sys::OpenPidfd(sender.pid);
  return pidfd ? *std::move(pidfd) : OwnedFd();
}

void SayGo(int outer) { Send(outer, kGo); }

// SIGIO, not a queued signal: the command could fill the queue, and one notice is enough.
Result<> Lifeline::Arm() const {
  const int flags = ::fcntl(fd_, F_GETFL);
  if (flags < 0 || ::fcntl(fd_, F_SETFD, FD_CLOEXEC) < 0 || ::fcntl(fd_, F_SETOWN, ::getpid()) < 0 ||
      ::fcntl(fd_, F_SETFL, flags | O_ASYNC) < 0) {
    return FailErrno("fcntl", "lifeline");
  }
  return {};
}

void Lifeline::SayHere() const { Send(fd_, kHere); }

bool Lifeline::AwaitGo() const {
  char word = 0;
  return sys::Read(fd_, &word, 1) == 1 && word == kGo;
}

bool Lifeline::IsCut() const {
  pollfd line = {fd_, 0, 0};
  return ::poll(&line, 1, 0) == 1;
}

}  // namespace holdfast::sandbox
