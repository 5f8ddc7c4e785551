// Descriptors through a unix socket (SCM_RIGHTS).
#pragma once

#include <cstddef>
#include <span>
#include <string_view>
#include <vector>

#include "base/owned_fd.h"
#include "base/result.h"

namespace holdfast::sys {

inline constexpr size_t kMaxPassedFds = 253;  // the kernel's limit for one message

// Copies of them, in one message. At least one, and no more than kMaxPassedFds.
Result<> SendDescriptors(int socket, std::span<const int> fds);

// Of one message, close-on-exec. Blocks if the socket does. Empty when the peer has closed its end, or has sent none.
// Fails when not all of them could be taken.
Result<std::vector<OwnedFd>> ReceiveDescriptors(int socket);

// One descriptor with the first bytes of `bytes`, which are not empty; returns how many of them were sent. Blocks.
Result<size_t> SendWithDescriptor(int socket, std::string_view bytes, int fd);

Result<> SendAll(int socket, std::string_view bytes);

struct Received {
  size_t size = 0;  // 0: the peer has closed its end
  OwnedFd fd;       // closed when none came; of several the last
};
Result<Received> ReceiveWithDescriptor(int socket, std::span<char> buffer);

}  // namespace holdfast::sys
