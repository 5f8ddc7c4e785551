// The processes that a client accepts at the other end of a unix socket.
#pragma once

namespace holdfast::transport {

enum class UnixPeer {
  kAny,   // any process that could make the socket
  kOurs,  // a process of this user in this pid namespace. A sandboxed command is in another one, unless its sandbox is
          // Landlock alone
};

}  // namespace holdfast::transport
