#include "sys/descriptor_passing.h"

#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <cstring>

#include "base/check.h"

namespace holdfast::sys {
namespace {

using ControlSpace = std::array<char, CMSG_SPACE(kMaxPassedFds * sizeof(int))>;

// The kernel does not pass descriptors without a byte to go with them.
struct Message {
  char byte = 0;
  iovec bytes = {.iov_base = &byte, .iov_len = 1};
  alignas(cmsghdr) ControlSpace control = {};
  msghdr header = {.msg_name = nullptr,
                   .msg_namelen = 0,
                   .msg_iov = &bytes,
                   .msg_iovlen = 1,
                   .msg_control = control.data(),
                   .msg_controllen = control.size(),
                   .msg_flags = 0};
};

std::vector<OwnedFd> TakeFds(msghdr& header) {
  std::vector<OwnedFd> fds;
  for (cmsghdr* part = CMSG_FIRSTHDR(&header); part != nullptr; part = CMSG_NXTHDR(&header, part)) {
    if (part->cmsg_level != SOL_SOCKET || part->cmsg_type != SCM_RIGHTS) continue;
    const size_t count = (part->cmsg_len - CMSG_LEN(0)) / sizeof(int);
    for (size_t i = 0; i < count; ++i) {
      int fd;
      std::memcpy(&fd, CMSG_DATA(part) + i * sizeof fd, sizeof fd);
      fds.emplace_back(fd);
    }
  }
  return fds;
}

}  // namespace

Result<> SendDescriptors(int socket, std::span<const int> fds) {
  CHECK(!fds.empty() && fds.size() <= kMaxPassedFds);
  Message message;
  message.header.msg_controllen = CMSG_SPACE(fds.size_bytes());
  cmsghdr* part = CMSG_FIRSTHDR(&message.header);
  *part = {.cmsg_len = CMSG_LEN(fds.size_bytes()), .cmsg_level = SOL_SOCKET, .cmsg_type = SCM_RIGHTS};
  std::memcpy(CMSG_DATA(part), fds.data(), fds.size_bytes());
  ssize_t n;
  do {
    n = ::sendmsg(socket, &message.header, MSG_NOSIGNAL);
  } while (n < 0 && errno == EINTR);
  if (n < 0) return std::unexpected(ErrnoError("sendmsg", "descriptors", errno));
  return {};
}

Result<std::vector<OwnedFd>> ReceiveDescriptors(int socket) {
  Message message;
  ssize_t n;
  do {
    n = ::recvmsg(socket, &message.header, MSG_CMSG_CLOEXEC);
  } while (n < 0 && errno == EINTR);
  if (n < 0) return std::unexpected(ErrnoError("recvmsg", "descriptors", errno));
  std::vector<OwnedFd> fds = TakeFds(message.header);
  if ((message.header.msg_flags & MSG_CTRUNC) != 0) {
    return Fail(ErrorKind::kLimit, "recvmsg descriptors: too many are open");
  }
  return fds;
}

}  // namespace holdfast::sys
