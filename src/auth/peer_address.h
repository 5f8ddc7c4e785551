// The address of a peer, as far as attempts are counted together.
#pragma once

#include <sys/socket.h>

#include <array>
#include <cstdint>
#include <string>

namespace holdfast::auth {

class PeerAddress {
 public:
  // Takes an IPv4 address as a whole, and the first 64 bits of an IPv6 address: one machine usually has all the
  // addresses that share them. An address of any other family counts as one.
  explicit PeerAddress(const sockaddr_storage& address);

  // The address of the other end of a connected socket.
  static PeerAddress Of(int socket);

  bool is_loopback() const { return is_loopback_; }
  std::string text() const;  // such as "192.0.2.7" or "2001:db8::/64"

  friend bool operator==(const PeerAddress&, const PeerAddress&) = default;

 private:
  std::array<uint8_t, 16> bytes_{};  // an IPv4 address is mapped into IPv6
  bool is_loopback_ = false;
};

}  // namespace holdfast::auth
