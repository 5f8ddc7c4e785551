// The reading end of TCP connections, which never reads. The sockets of the other end have full buffers and SO_LINGER,
// so that the last close of one blocks for kLingerTime, unless a process closes it by its end. When the peer is
// destroyed, it resets the connections, and the closes that still block return.
#pragma once

#include <chrono>
#include <cstdint>

#include "base/owned_fd.h"

namespace holdfast::support {

inline constexpr std::chrono::seconds kLingerTime(20);
// The time that may pass, on a busy machine too, where nothing lingers.
inline constexpr std::chrono::seconds kPromptness(2);

class LingeringPeer {
 public:
  LingeringPeer();

  uint16_t port() const { return port_; }
  OwnedFd Connect() const;

 private:
  OwnedFd listener_;
  uint16_t port_ = 0;
};

// Returns an end of a unix socket pair with the socket in its queue, which is the only reference to it.
OwnedFd InQueue(OwnedFd socket);

// Returns how long a call takes.
template <typename Call>
std::chrono::nanoseconds TimeOf(Call call) {
  const auto begin = std::chrono::steady_clock::now();
  call();
  return std::chrono::steady_clock::now() - begin;
}

}  // namespace holdfast::support
