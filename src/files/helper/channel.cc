#include "files/helper/channel.h"

#include <sys/socket.h>

#include <utility>

#include "sys/descriptor_passing.h"

namespace holdfast::files {

// Sends the line and its end in one call if the socket has room, so that the peer is woken only once.
Result<> Channel::Send(std::string line, std::optional<int> fd) {
  line += '\n';
  std::string_view rest = line;
  if (fd) {
    TRY(const size_t sent, sys::SendWithDescriptor(socket_, rest, *fd));
    rest.remove_prefix(sent);
  }
  return sys::SendAll(socket_, rest);
}

Result<std::optional<Channel::Line>> Channel::Receive() {
  for (size_t searched = 0;;) {
    const size_t end = buffer_.find('\n', searched);
    if (end != std::string::npos) {
      std::string rest = buffer_.substr(end + 1);
      buffer_.resize(end);
      return Line{std::exchange(buffer_, std::move(rest)), std::exchange(fd_, OwnedFd())};
    }
    searched = buffer_.size();
    if (searched > max_line_bytes_) return Fail(ErrorKind::kLimit, "file helper: a line is too long");
    TRY(const size_t count, Fill());
    if (count > 0) continue;
    if (buffer_.empty()) return std::nullopt;
    return Fail(ErrorKind::kSystem, "file helper: the connection ended in the middle of a line");
  }
}

Result<size_t> Channel::Fill() {
  auto received = sys::ReceiveWithDescriptor(socket_, *piece_);
  if (!received) return std::unexpected(std::move(received).error());
  if (received->fd.is_open()) fd_ = std::move(received->fd);
  buffer_.append(piece_->data(), received->size);
  return received->size;
}

}  // namespace holdfast::files
