// ProxyConnection is one connection of a command to a proxy. It passes on the bytes that each side sends, and then the
// end of that direction, independently of the other direction. When a connection breaks on one side, the other side is
// reset, so that no side mistakes half an answer for a whole one.
//
// At most one block per direction has been read and not yet been sent on; the rest waits in the sender's socket.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "base/owned_fd.h"
#include "sandbox/proxy/routes.h"

namespace holdfast::sandbox {

class ProxyConnection {
 public:
  // `client` must be non-blocking. Both sockets are watched by `epoll`, edge-triggered and under `id`. The caller calls
  // Advance for each event.
  ProxyConnection(OwnedFd client, const ProxyEndpoint& proxy, int epoll, uint64_t id);
  ProxyConnection(const ProxyConnection&) = delete;
  ProxyConnection& operator=(const ProxyConnection&) = delete;

  // kUnfinished means that more could be done without waiting, but other connections come first.
  enum class Progress { kWaiting, kUnfinished, kOver };

  // Does what can be done without waiting. `block` is a buffer that holds nothing between two calls.
  Progress Advance(std::span<char> block);

  // Returns whether the proxy has been given everything that the command will ever send.
  bool upload_over() const { return upload_.over; }

 private:
  struct Direction {
    std::string unsent;  // bytes that were read from one side and could not yet be sent to the other
    bool over = false;
  };

  Progress Connect();
  Progress Copy(Direction& direction, int from, int to, std::span<char> block);
  bool Send(Direction& direction, int to, std::string_view bytes);
  bool Watch(int fd) const;
  Progress Abort();

  OwnedFd client_, proxy_;
  std::span<const int> families_left_;  // the address families that are still to be tried
  const uint16_t port_;
  const int epoll_;
  const uint64_t id_;
  bool connected_ = false;
  bool broken_ = false;  // one side accepts no more bytes; bytes that it had sent before may still be unread
  Direction upload_, download_;
};

}  // namespace holdfast::sandbox
