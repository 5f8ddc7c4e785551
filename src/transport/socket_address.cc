#include "transport/socket_address.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/un.h>

#include <fmt/format.h>

namespace holdfast::transport {
namespace {

sockaddr_in& Ipv4Of(SocketAddress& address) { return reinterpret_cast<sockaddr_in&>(address.storage); }
sockaddr_in6& Ipv6Of(SocketAddress& address) { return reinterpret_cast<sockaddr_in6&>(address.storage); }
const sockaddr_in& Ipv4Of(const SocketAddress& address) {
  return reinterpret_cast<const sockaddr_in&>(address.storage);
}
const sockaddr_in6& Ipv6Of(const SocketAddress& address) {
  return reinterpret_cast<const sockaddr_in6&>(address.storage);
}

}  // namespace

std::optional<SocketAddress> TcpAddress(const std::string& ip, uint16_t port) {
  SocketAddress address;
  if (::inet_pton(AF_INET, ip.c_str(), &Ipv4Of(address).sin_addr) == 1) {
    Ipv4Of(address).sin_family = AF_INET;
    Ipv4Of(address).sin_port = htons(port);
    address.size = sizeof(sockaddr_in);
    return address;
  }
  if (::inet_pton(AF_INET6, ip.c_str(), &Ipv6Of(address).sin6_addr) != 1) return std::nullopt;
  Ipv6Of(address).sin6_family = AF_INET6;
  Ipv6Of(address).sin6_port = htons(port);
  address.size = sizeof(sockaddr_in6);
  return address;
}

SocketAddress UnixAddress(std::string_view path) {
  SocketAddress address;
  auto& in_file_system = reinterpret_cast<sockaddr_un&>(address.storage);
  in_file_system.sun_family = AF_UNIX;
  path.copy(in_file_system.sun_path, MaxUnixPathBytes());
  address.size = sizeof(sockaddr_un);
  return address;
}

size_t MaxUnixPathBytes() { return sizeof(sockaddr_un::sun_path) - 1; }  // the kernel needs room for a NUL

std::string TextOf(const SocketAddress& address) {
  char ip[INET6_ADDRSTRLEN] = "";
  if (address.family() == AF_INET) {
    ::inet_ntop(AF_INET, &Ipv4Of(address).sin_addr, ip, sizeof(ip));
  } else {
    ::inet_ntop(AF_INET6, &Ipv6Of(address).sin6_addr, ip, sizeof(ip));
  }
  return HostAndPort(ip, PortOf(address));
}

std::string HostAndPort(std::string_view host, uint16_t port) {
  return host.contains(':') ? fmt::format("[{}]:{}", host, port) : fmt::format("{}:{}", host, port);
}

uint16_t PortOf(const SocketAddress& address) {
  return ntohs(address.family() == AF_INET ? Ipv4Of(address).sin_port : Ipv6Of(address).sin6_port);
}

bool IsLoopback(const SocketAddress& address) {
  if (address.family() == AF_INET) return ntohl(Ipv4Of(address).sin_addr.s_addr) >> 24 == 127;
  const in6_addr& ip = Ipv6Of(address).sin6_addr;
  return IN6_IS_ADDR_LOOPBACK(&ip) || (IN6_IS_ADDR_V4MAPPED(&ip) && ip.s6_addr[12] == 127);
}

void SetNoDelay(int socket) {
  const int on = 1;
  ::setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
}

}  // namespace holdfast::transport
