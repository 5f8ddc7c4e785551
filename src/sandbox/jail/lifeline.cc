#include "sandbox/jail/lifeline.h"

#include <poll.h>
#include <sys/socket.h>

#include <cerrno>
#include <utility>

#include "sys/inherit.h"
#include "sys/io.h"
#include "sys/message_sender.h"
#include "sys/pidfd.h"
#include "sys/socket_pair.h"

namespace holdfast::sandbox {
namespace {

// A byte that is none of these letters is the number of a signal; these are lower.
constexpr char kHere = 'h', kGo = 'g';

// A failure means that the other stage is gone, which this stage learns elsewhere.
void Send(int fd, char letter) { (void)::send(fd, &letter, 1, MSG_NOSIGNAL); }

}  // namespace

Result<LifelineEnds> MakeLifeline() {
  TRY(sys::SocketPair pair, sys::MakeSocketPair(sys::SocketKind::kStream));
  LifelineEnds line{.outer = std::move(pair.ours), .inner = std::move(pair.theirs)};
  TRY_VOID(sys::AskForSenders(line.outer.get()));
  TRY_VOID(sys::LetInherit(line.inner.get()));
  return line;
}

// The inner stage waits for the answer, so its number cannot belong to another process yet.
OwnedFd ReceiveAnnouncement(int outer) {
  char letter = 0;
  iovec piece = {&letter, 1};
  alignas(cmsghdr) char control[sys::kSenderSpace];
  msghdr message = {};
  message.msg_iov = &piece;
  message.msg_iovlen = 1;
  message.msg_control = control;
  message.msg_controllen = sizeof control;
  ssize_t n;
  do {
    n = ::recvmsg(outer, &message, MSG_CMSG_CLOEXEC);
  } while (n < 0 && errno == EINTR);
  if (n != 1 || letter != kHere) return {};
  auto pidfd = sys::OpenPidfd(sys::SenderOf(message));
  return pidfd ? *std::move(pidfd) : OwnedFd();
}

void SendGo(int outer) { Send(outer, kGo); }

// An inner stage that is gone needs no signal.
bool SendSignalFor(int outer, int signal) {
  const char number = static_cast<char>(signal);
  return ::send(outer, &number, 1, MSG_NOSIGNAL | MSG_DONTWAIT) == 1 || errno != EAGAIN;
}

void Lifeline::Announce() const {
  pollfd line = {fd_, POLLIN, 0};
  if (::poll(&line, 1, 0) == 0) Send(fd_, kHere);
}

bool Lifeline::AwaitGo() const {
  char letter = 0;
  return sys::Read(fd_, &letter, 1) == 1 && letter == kGo;
}

bool Lifeline::IsCut() const {
  pollfd line = {fd_, 0, 0};
  return ::poll(&line, 1, 0) == 1;
}

std::optional<int> Lifeline::ReceiveSignal() const {
  char number = 0;
  if (::recv(fd_, &number, 1, MSG_DONTWAIT) != 1) return std::nullopt;
  return number;
}

}  // namespace holdfast::sandbox
