#include "sys/message_sender.h"

#include <cstring>

namespace holdfast::sys {

Result<> AskForSenders(int socket) {
  const int yes = 1;
  if (::setsockopt(socket, SOL_SOCKET, SO_PASSCRED, &yes, sizeof yes) == 0) return {};
  return FailErrno("setsockopt", "SO_PASSCRED");
}

pid_t SenderOf(msghdr& message) {
  for (cmsghdr* part = CMSG_FIRSTHDR(&message); part != nullptr; part = CMSG_NXTHDR(&message, part)) {
    if (part->cmsg_level != SOL_SOCKET || part->cmsg_type != SCM_CREDENTIALS) continue;
    ucred sender;
    std::memcpy(&sender, CMSG_DATA(part), sizeof sender);
    return sender.pid;
  }
  return 0;
}

}  // namespace holdfast::sys
