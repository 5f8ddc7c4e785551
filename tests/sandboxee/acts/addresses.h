// The addresses of sockets are made from the arguments of an act.
#pragma once

#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <cstddef>
#include <cstdint>
#include <cstring>

// UnixAddress is a path, or after an @ a name in the abstract namespace.
class UnixAddress {
 public:
  explicit UnixAddress(const char* name) {
    const size_t length = std::strlen(name);
    std::memcpy(address_.sun_path, name, length < sizeof address_.sun_path ? length : sizeof address_.sun_path - 1);
    size_ = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + length);
    if (name[0] == '@') address_.sun_path[0] = '\0';
  }

  const sockaddr* get() const { return reinterpret_cast<const sockaddr*>(&address_); }
  sockaddr* get() { return reinterpret_cast<sockaddr*>(&address_); }
  socklen_t size() const { return size_; }

 private:
  sockaddr_un address_ = {AF_UNIX, {}};
  socklen_t size_;
};

// The address is a port of the loopback.
class InetAddress {
 public:
  explicit InetAddress(long port) {
    address_.sin_family = AF_INET;
    address_.sin_port = htons(static_cast<uint16_t>(port));
    address_.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  }

  const sockaddr* get() const { return reinterpret_cast<const sockaddr*>(&address_); }
  socklen_t size() const { return sizeof address_; }

 private:
  sockaddr_in address_ = {};
};
