#include "auth/peer_address.h"

#include <arpa/inet.h>
#include <netinet/in.h>

#include <algorithm>
#include <cstring>
#include <span>

namespace holdfast::auth {
namespace {

constexpr std::array<uint8_t, 12> kMapped = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};
constexpr size_t kPrefixBytes = 8;
constexpr uint8_t kLoopbackNet = 127;

bool IsMapped(std::span<const uint8_t> bytes) { return std::ranges::equal(bytes.first(kMapped.size()), kMapped); }

}  // namespace

PeerAddress::PeerAddress(const sockaddr_storage& address) {
  if (address.ss_family == AF_INET) {
    const auto& ipv4 = reinterpret_cast<const sockaddr_in&>(address);
    std::ranges::copy(kMapped, bytes_.begin());
    std::memcpy(bytes_.data() + kMapped.size(), &ipv4.sin_addr, sizeof(ipv4.sin_addr));
  } else if (address.ss_family == AF_INET6) {
    std::memcpy(bytes_.data(), &reinterpret_cast<const sockaddr_in6&>(address).sin6_addr, bytes_.size());
  } else {
    return;
  }
  if (IsMapped(bytes_)) {
    is_loopback_ = bytes_[kMapped.size()] == kLoopbackNet;
    return;
  }
  is_loopback_ = std::memcmp(bytes_.data(), &in6addr_loopback, bytes_.size()) == 0;
  std::fill(bytes_.begin() + kPrefixBytes, bytes_.end(), uint8_t{0});
}

PeerAddress PeerAddress::Of(int socket) {
  sockaddr_storage address{};
  socklen_t size = sizeof(address);
  if (::getpeername(socket, reinterpret_cast<sockaddr*>(&address), &size) < 0) address = {};  // the peer has hung up
  return PeerAddress(address);
}

std::string PeerAddress::text() const {
  char text[INET6_ADDRSTRLEN] = "";
  if (IsMapped(bytes_)) return ::inet_ntop(AF_INET, bytes_.data() + kMapped.size(), text, sizeof(text));
  return std::string(::inet_ntop(AF_INET6, bytes_.data(), text, sizeof(text))) + "/64";
}

}  // namespace holdfast::auth
