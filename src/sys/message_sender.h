// The sender of a message of a unix socket, as the kernel knows it.
#pragma once

#include <sys/socket.h>
#include <sys/types.h>

#include "base/result.h"

namespace holdfast::sys {

// Has the kernel add the sender to every message that comes to this socket. It does so only for messages that are sent
// after this call.
Result<> AskForSenders(int socket);

// The room that a control buffer needs for the sender.
inline constexpr size_t kSenderSpace = CMSG_SPACE(sizeof(ucred));

// Returns the number of the process that has sent a received message, or 0 if the kernel has not added it.
pid_t SenderOf(msghdr& message);

}  // namespace holdfast::sys
