// Descriptors through a unix socket (SCM_RIGHTS).
#pragma once

#include <cstddef>
#include <span>
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

}  // namespace holdfast::sys
