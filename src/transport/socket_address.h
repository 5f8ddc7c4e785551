// The addresses of TCP and unix sockets, and their texts.
#pragma once

#include <sys/socket.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace holdfast::transport {

struct SocketAddress {
  sockaddr_storage storage{};
  socklen_t size = sizeof(sockaddr_storage);

  sockaddr* get() { return reinterpret_cast<sockaddr*>(&storage); }
  const sockaddr* get() const { return reinterpret_cast<const sockaddr*>(&storage); }

  sa_family_t family() const { return storage.ss_family; }
};

// Returns nothing if `ip` is not a literal IPv4 or IPv6 address.
std::optional<SocketAddress> TcpAddress(const std::string& ip, uint16_t port);

// The path fits into a sockaddr_un. UnixPlace has the addresses of longer ones.
SocketAddress UnixAddress(std::string_view path);
size_t MaxUnixPathBytes();

// Returns a text such as "127.0.0.1:80" or "[::1]:80" for a TCP address.
std::string TextOf(const SocketAddress& address);

// Returns the host and the port as they stand in a URL: an IPv6 address gets brackets.
std::string HostAndPort(std::string_view host, uint16_t port);

uint16_t PortOf(const SocketAddress& address);
bool IsLoopback(const SocketAddress& address);

// Makes small messages leave at once. Nagle's algorithm could only delay them, because messages are gathered into one
// write before they reach the socket.
void SetNoDelay(int socket);

}  // namespace holdfast::transport
