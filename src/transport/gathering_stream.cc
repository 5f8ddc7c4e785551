#include "transport/gathering_stream.h"

#include <sys/socket.h>

#include <array>
#include <cerrno>

namespace holdfast::transport {
namespace {

int FamilyOf(int fd) {
  int family = AF_UNSPEC;
  socklen_t size = sizeof(family);
  ::getsockopt(fd, SOL_SOCKET, SO_DOMAIN, &family, &size);
  return family;
}

}  // namespace

// If the socket cannot be registered with epoll, every operation on it fails and the connection ends at its first read.
GatheringStream::GatheringStream(asio::io_context& context, ByteStream& bytes, Outbox& outbox, std::string early_input,
                                 loop::Callback on_close_frame)
    : bytes_(bytes),
      socket_(context),
      outbox_(outbox),
      early_input_(std::move(early_input)),
      on_close_frame_(std::move(on_close_frame)),
      progress_(context, asio::steady_timer::time_point::max()) {
  error_code unregistered;
  socket_.assign(asio::generic::stream_protocol(FamilyOf(bytes_.fd()), 0), bytes_.fd(), unregistered);
}

void GatheringStream::Take(std::string bytes) {
  const bool is_close = static_cast<uint8_t>(bytes.front()) == kCloseFrameStart;
  outbox_.Append(std::move(bytes));
  if (is_close) on_close_frame_();
}

void GatheringStream::Abort() {
  if (bytes_.fd() < 0) return;
  outbox_.Shut();
  error_code ignored;  // an abort need not be orderly
  socket_.release(ignored);
  bytes_.Close();
  progress_.cancel();
}

// Returns true while more input may follow. The descriptor is read directly: nobody looks at this input, so that it may
// stay encrypted.
bool GatheringStream::Teardown::DiscardInput() const {
  std::array<char, 16u << 10> scratch;
  const ssize_t count = ::recv(stream.bytes_.fd(), scratch.data(), scratch.size(), MSG_DONTWAIT);
  return count > 0 || (count < 0 && (errno == EAGAIN || errno == EINTR));
}

}  // namespace holdfast::transport
