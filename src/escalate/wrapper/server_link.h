// The wrapper's connection to the server. Every wrapper of a shell call makes a stream socket of its own and passes the
// other end through the datagram socket that all processes of the call inherit.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/owned_fd.h"
#include "base/result.h"
#include "escalate/messages/frame.h"

namespace holdfast::escalate {

class ServerLink {
 public:
  // The datagram socket may be blocking or not: its description is shared with other wrappers, so it is left as it is.
  static Result<ServerLink> Open(int datagram_socket);

  // Sends one message, and waits until the socket has taken it.
  Result<> Send(std::string_view text, std::span<const int> fds = {});

  // Waits for one message. Returns nothing when the server has closed the connection.
  Result<std::optional<std::string>> Receive();

 private:
  explicit ServerLink(OwnedFd socket) : socket_(std::move(socket)) {}

  OwnedFd socket_;
  FrameReader reader_;
};

}  // namespace holdfast::escalate
