// Functions that pass descriptors through a unix socket (SCM_RIGHTS).
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <span>
#include <string_view>
#include <vector>

#include "base/owned_fd.h"
#include "base/result.h"
#include "sys/foreign_fd.h"

namespace holdfast::sys {

inline constexpr size_t kMaxPassedFds = 253;  // the kernel's limit for one message

// Sends copies of the descriptors in one message. There must be at least one, and at most kMaxPassedFds.
Result<> SendDescriptors(int socket, std::span<const int> fds);
// Does the same for callers that distinguish errors. Returns 0 or the errno.
int TrySendDescriptors(int socket, std::span<const int> fds);

// Returns the descriptors of one message, close-on-exec. Blocks if the socket is blocking. The result is empty if the
// peer has closed its end, or has sent a message without descriptors. Fails if not all descriptors could be received.
Result<std::vector<OwnedFd>> ReceiveDescriptors(int socket);

// Sends one descriptor together with the first of `bytes`, which must not be empty. Returns the number of bytes sent.
// Blocks if the socket is blocking.
Result<size_t> SendWithDescriptor(int socket, std::string_view bytes, int fd);

// Does the same with several descriptors, or none.
Result<size_t> SendWithDescriptors(int socket, std::string_view bytes, std::span<const int> fds);

Result<> SendAll(int socket, std::string_view bytes);

struct Received {
  size_t size = 0;  // 0 if the peer has closed its end
  OwnedFd fd;       // the last descriptor of the message; not open if the message had none
};
Result<Received> ReceiveWithDescriptor(int socket, std::span<char> buffer);

struct ReceivedMany {
  size_t size = 0;           // 0 if the peer has closed its end
  std::vector<OwnedFd> fds;  // in the order in which they were sent
};
// Returns the next bytes and all descriptors of a peer that is trusted. Fails with kLimit if not all descriptors could
// be received. Blocks if the socket is blocking.
Result<ReceivedMany> ReceiveWithDescriptors(int socket, std::span<char> buffer);

struct Arrival {
  ssize_t size = 0;            // 0 at the end; -errno after a failure, -EMFILE if not all descriptors could be received
  std::vector<ForeignFd> fds;  // close-on-exec; the peer may have sent any
};
// Returns the next bytes, and all descriptors that came with them. Never waits: without bytes the size is -EAGAIN. The
// kernel closes descriptors for which there is no room inside of this call, and that may block, so the call uses the
// reserve of the process (file_limit.h), and has room for everything else that the peer can have the kernel add.
Arrival TryReceive(int socket, std::span<char> buffer);

// Has the kernel refuse every message to this unix socket that has descriptors, and to the sockets that it accepts. A
// reader that does not expect descriptors closes them inside of its read, which may block. Does nothing before Linux
// 6.16.
void RefuseDescriptors(int socket);

// Has the kernel add neither credentials, nor a security label, nor a pidfd of the sender to what this unix socket
// receives. A peer that has handed the socket over may have asked for them, and may do so again.
void RefuseSenderDetails(int socket);

}  // namespace holdfast::sys
