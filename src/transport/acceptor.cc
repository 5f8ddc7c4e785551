#include "transport/acceptor.h"

#include <sys/socket.h>

#include <cerrno>
#include <utility>

namespace holdfast::transport {
namespace {

constexpr int kAcceptsPerTurn = 64;
constexpr std::chrono::milliseconds kPause(100);

// Returns true if the error concerns only one connection: it died in the queue (accept returns its pending network
// error), or a signal interrupted the call. The next accept may then succeed. Every other error concerns the server and
// would occur again if it tried at once.
bool ConcernsOneConnection(int errno_value) {
  switch (errno_value) {
    case EINTR:
    case ECONNABORTED:
    case EPROTO:
    case ENETDOWN:
    case ENETUNREACH:
    case EHOSTDOWN:
    case EHOSTUNREACH:
    case ENONET:
    case ENOPROTOOPT:
      return true;
    default:
      return false;
  }
}

}  // namespace

Acceptor::Acceptor(loop::EventLoop& loop, OwnedFd listening, OnAccepted on_accepted)
    : listening_(std::move(listening)),
      on_accepted_(std::move(on_accepted)),
      watch_(loop, listening_.get(), [this] { AcceptSome(); }),
      pause_(loop, [this] { watch_.WatchReadable(); }) {
  watch_.WatchReadable();
}

void Acceptor::AcceptSome() {
  for (int i = 0; i < kAcceptsPerTurn; ++i) {
    OwnedFd accepted(::accept4(listening_.get(), nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC));
    if (accepted.is_open()) {
      on_accepted_(std::move(accepted));
    } else if (errno == EAGAIN) {
      break;
    } else if (!ConcernsOneConnection(errno)) {
      return pause_.Start(kPause);
    }
  }
  watch_.WatchReadable();
}

}  // namespace holdfast::transport
