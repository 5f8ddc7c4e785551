#include "sys/descriptor_passing.h"

#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <cstring>

#include "base/check.h"
#include "sys/file_limit.h"

namespace holdfast::sys {
namespace {

// Options that older headers do not have; SCM_PIDFD is the kind of the message that SO_PASSPIDFD asks for.
constexpr int kPassPidfd = 76, kPidfdMessage = 4, kPassRights = 83;

// The peer can set options of a socket that it has handed over. The kernel then adds a pidfd, credentials and a
// security label, and drops descriptors if there is no room for everything. The labels of security modules fit into one
// page.
constexpr size_t kMaxLabelBytes = 4096;
constexpr size_t kControlBytes = CMSG_SPACE(kMaxPassedFds * sizeof(int)) + CMSG_SPACE(sizeof(int)) +
                                 CMSG_SPACE(sizeof(ucred)) + CMSG_SPACE(kMaxLabelBytes);
using ControlSpace = std::array<char, kControlBytes>;

struct Message {
  explicit Message(std::span<char> buffer) : bytes{.iov_base = buffer.data(), .iov_len = buffer.size()} {}
  Message(const Message&) = delete;
  Message& operator=(const Message&) = delete;

  void Attach(std::span<const int> fds) {
    header.msg_controllen = CMSG_SPACE(fds.size_bytes());
    cmsghdr* part = CMSG_FIRSTHDR(&header);
    *part = {.cmsg_len = CMSG_LEN(fds.size_bytes()), .cmsg_level = SOL_SOCKET, .cmsg_type = SCM_RIGHTS};
    std::memcpy(CMSG_DATA(part), fds.data(), fds.size_bytes());
  }

  // Returns -errno after a failure, as TryReceive does.
  ssize_t TrySend(int socket) {
    ssize_t n;
    do {
      n = ::sendmsg(socket, &header, MSG_NOSIGNAL);
    } while (n < 0 && errno == EINTR);
    if (n < 0 && errno == ETOOMANYREFS) return TrySendWithReserve(socket);
    return n < 0 ? -errno : n;
  }

  // The kernel compares the soft limit with the descriptors that all processes of the user have in flight.
  ssize_t TrySendWithReserve(int socket) {
    const FdReserve reserve;
    const ssize_t n = ::sendmsg(socket, &header, MSG_NOSIGNAL | MSG_DONTWAIT);
    return n < 0 ? -ETOOMANYREFS : n;
  }

  Result<size_t> Send(int socket) {
    const ssize_t n = TrySend(socket);
    if (n < 0) return FailErrno("sendmsg", "descriptors", static_cast<int>(-n));
    return static_cast<size_t>(n);
  }

  ssize_t TryReceive(int socket, int flags) {
    ssize_t n;
    do {
      n = ::recvmsg(socket, &header, MSG_CMSG_CLOEXEC | flags);
    } while (n < 0 && errno == EINTR);
    return n < 0 ? -errno : n;
  }

  Result<size_t> Receive(int socket) {
    const ssize_t n = TryReceive(socket, 0);
    if (n < 0) return FailErrno("recvmsg", "descriptors", static_cast<int>(-n));
    return static_cast<size_t>(n);
  }

  // Returns the descriptors that the peer has sent, and closes a pidfd that the kernel has added. Fails if not all of
  // them could be received.
  template <typename Fd>
  Result<std::vector<Fd>> TakeFds();

  iovec bytes;
  alignas(cmsghdr) ControlSpace control = {};
  msghdr header = {.msg_name = nullptr,
                   .msg_namelen = 0,
                   .msg_iov = &bytes,
                   .msg_iovlen = 1,
                   .msg_control = control.data(),
                   .msg_controllen = control.size(),
                   .msg_flags = 0};
};

template <typename Fd>
Result<std::vector<Fd>> Message::TakeFds() {
  std::vector<Fd> fds, pidfds;
  for (cmsghdr* part = CMSG_FIRSTHDR(&header); part != nullptr; part = CMSG_NXTHDR(&header, part)) {
    const bool is_pidfd = part->cmsg_type == kPidfdMessage;
    if (part->cmsg_level != SOL_SOCKET || (part->cmsg_type != SCM_RIGHTS && !is_pidfd)) continue;
    const size_t count = (part->cmsg_len - CMSG_LEN(0)) / sizeof(int);
    for (size_t i = 0; i < count; ++i) {
      int fd;
      std::memcpy(&fd, CMSG_DATA(part) + i * sizeof fd, sizeof fd);
      if (fd >= 0) (is_pidfd ? pidfds : fds).emplace_back(OwnedFd(fd));  // in the place of a pidfd may be an error
    }
  }
  if ((header.msg_flags & MSG_CTRUNC) != 0) return Fail(ErrorKind::kLimit, "recvmsg descriptors: too many are open");
  return fds;
}

}  // namespace

// The message has one byte, because the kernel does not pass descriptors without any.
int TrySendDescriptors(int socket, std::span<const int> fds) {
  CHECK(!fds.empty() && fds.size() <= kMaxPassedFds);
  char byte = 0;
  Message message({&byte, 1});
  message.Attach(fds);
  const ssize_t n = message.TrySend(socket);
  return n < 0 ? static_cast<int>(-n) : 0;
}

Result<> SendDescriptors(int socket, std::span<const int> fds) {
  const int error = TrySendDescriptors(socket, fds);
  if (error != 0) return FailErrno("sendmsg", "descriptors", error);
  return {};
}

Result<std::vector<OwnedFd>> ReceiveDescriptors(int socket) {
  char byte = 0;
  Message message({&byte, 1});
  TRY_VOID(message.Receive(socket));
  return message.TakeFds<OwnedFd>();
}

Result<size_t> SendWithDescriptor(int socket, std::string_view bytes, int fd) {
  return SendWithDescriptors(socket, bytes, {&fd, 1});
}

Result<size_t> SendWithDescriptors(int socket, std::string_view bytes, std::span<const int> fds) {
  CHECK(fds.size() <= kMaxPassedFds);
  Message message({const_cast<char*>(bytes.data()), bytes.size()});  // sendmsg only reads the bytes
  if (fds.empty()) {
    message.header.msg_control = nullptr;
    message.header.msg_controllen = 0;
  } else {
    message.Attach(fds);
  }
  return message.Send(socket);
}

Result<> SendAll(int socket, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t n = ::send(socket, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return FailErrno("send");
    bytes.remove_prefix(static_cast<size_t>(n));
  }
  return {};
}

Result<Received> ReceiveWithDescriptor(int socket, std::span<char> buffer) {
  Message message(buffer);
  TRY(const size_t size, message.Receive(socket));
  TRY(std::vector<OwnedFd> fds, message.TakeFds<OwnedFd>());
  return Received{size, fds.empty() ? OwnedFd() : std::move(fds.back())};
}

Result<ReceivedMany> ReceiveWithDescriptors(int socket, std::span<char> buffer) {
  Message message(buffer);
  TRY(const size_t size, message.Receive(socket));
  TRY(std::vector<OwnedFd> fds, message.TakeFds<OwnedFd>());
  return ReceivedMany{size, std::move(fds)};
}

void RefuseDescriptors(int socket) {
  const int no = 0;
  (void)::setsockopt(socket, SOL_SOCKET, kPassRights, &no, sizeof no);
}

void RefuseSenderDetails(int socket) {
  const int no = 0;
  for (const int option : {SO_PASSCRED, SO_PASSSEC, kPassPidfd}) {
    (void)::setsockopt(socket, SOL_SOCKET, option, &no, sizeof no);  // older kernels do not have every option
  }
}

Arrival TryReceive(int socket, std::span<char> buffer) {
  Message message(buffer);
  Arrival arrival;
  {
    const FdReserve reserve;
    arrival.size = message.TryReceive(socket, MSG_DONTWAIT);
  }
  if (arrival.size < 0) return arrival;
  auto fds = message.TakeFds<ForeignFd>();
  if (!fds) return {.size = -EMFILE, .fds = {}};
  arrival.fds = *std::move(fds);
  return arrival;
}

}  // namespace holdfast::sys
