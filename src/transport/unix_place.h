// The place of a unix socket in the file system. The kernel takes paths of at most 107 bytes; a socket with a longer
// path is reached through a descriptor of its directory.
#pragma once

#include <string>
#include <string_view>
#include <utility>

#include "base/owned_fd.h"
#include "base/result.h"
#include "transport/socket_address.h"

namespace holdfast::transport {

// Returns nothing if the path can be that of a unix socket, and else why it cannot, such as "the name ... is longer
// than 80 bytes".
Result<> CheckUnixPath(std::string_view path);

class UnixPlace {
 public:
  // Fails if the directory of a long path cannot be opened.
  static Result<UnixPlace> Find(const std::string& path);

  // Returns the address by which to bind or connect. It holds for as long as this object.
  const SocketAddress& address() const { return address_; }

 private:
  UnixPlace(OwnedFd directory, const SocketAddress& address) : directory_(std::move(directory)), address_(address) {}

  OwnedFd directory_;  // closed where the path is short enough
  SocketAddress address_;
};

}  // namespace holdfast::transport
