#include "escalate/wrapper/server_link.h"

#include <poll.h>
#include <sys/socket.h>

#include <cerrno>
#include <utility>
#include <vector>

#include "sys/descriptor_passing.h"
#include "sys/io.h"
#include "sys/socket_pair.h"

namespace holdfast::escalate {
namespace {

// The queue of the datagram socket may be full for a moment, because many wrappers share it.
Result<> PassToServer(int datagram_socket, int fd) {
  for (;;) {
    const int error = sys::TrySendDescriptors(datagram_socket, {&fd, 1});
    if (error == 0) return {};
    if (error != EAGAIN) return FailErrno("sendmsg", "to the server", error);
    pollfd room{.fd = datagram_socket, .events = POLLOUT, .revents = 0};
    if (::poll(&room, 1, -1) < 0 && errno != EINTR) return FailErrno("poll");
  }
}

}  // namespace

Result<ServerLink> ServerLink::Open(int datagram_socket) {
  TRY(sys::SocketPair pair, sys::MakeSocketPair(sys::SocketKind::kStream));
  // Published servers expect that their end does not block.
  TRY_VOID(sys::SetBlocking(pair.theirs.get(), sys::Blocking::kNo));
  TRY_VOID(PassToServer(datagram_socket, pair.theirs.get()));
  return ServerLink(std::move(pair.ours));
}

Result<> ServerLink::Send(std::string_view text, std::span<const int> fds) {
  if (text.size() > kMaxFrameBytes) return Fail(ErrorKind::kLimit, "the arguments and variables are too long");
  const std::string frame = FrameOf(text);
  TRY(const size_t sent, sys::SendWithDescriptors(socket_.get(), frame, fds));
  return sys::SendAll(socket_.get(), std::string_view(frame).substr(sent));
}

Result<std::optional<std::string>> ServerLink::Receive() {
  std::vector<char> buffer;
  for (;;) {
    buffer.resize(reader_.wanted());
    const ssize_t n = sys::Read(socket_.get(), buffer.data(), buffer.size());
    if (n < 0) return FailErrno("read", "from the server", static_cast<int>(-n));
    if (n == 0) return std::nullopt;
    TRY(auto frame, reader_.Add({buffer.data(), static_cast<size_t>(n)}, {}));
    if (frame) return std::move(frame->text);
  }
}

}  // namespace holdfast::escalate
