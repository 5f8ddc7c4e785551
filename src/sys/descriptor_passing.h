// Functions that pass descriptors through a unix socket (SCM_RIGHTS).
#pragma once

#include <cstddef>
#include <span>
#include <string_view>
#include <vector>

#include "base/owned_fd.h"
#include "base/result.h"

namespace holdfast::sys {

inline constexpr size_t kMaxPassedFds = 253;  // the kernel's limit for one message

// Sends copies of the descriptors in one message. There must be at least one, and at most kMaxPassedFds.
Result<> SendDescriptors(int socket, std::span<const int> fds);

// Returns the descriptors of one message, close-on-exec. Blocks if the socket is blocking. The result is empty if the
// peer has closed its end, or has sent a message without descriptors. Fails if not all descriptors could be received.
Result<std::vector<OwnedFd>> ReceiveDescriptors(int socket);

// Sends one descriptor together with the first of `bytes`, which must not be empty. Returns the number of bytes sent.
// Blocks if the socket is blocking.
Result<size_t> SendWithDescriptor(int socket, std::string_view bytes, int fd);

Result<> SendAll(int socket, std::string_view bytes);

struct Received {
  size_t size = 0;  // 0 if the peer has closed its end
  OwnedFd fd;       // the last descriptor of the message; not open if the message had none
};
Result<Received> ReceiveWithDescriptor(int socket, std::span<char> buffer);

}  // namespace holdfast::sys
