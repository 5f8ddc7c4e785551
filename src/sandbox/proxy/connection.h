// One connection of a command with a proxy: what one side sends goes to the other, and so does its end, each direction
// by itself. A connection that breaks on one side is reset on the other: nobody shall take half an answer for all of
// it.
//
// At most one block per direction has been read and not yet been taken; the rest waits with whoever sends it.
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
  // `client` does not block. Both sockets report to `epoll`, edge-triggered, under `id`: Advance is to be called then.
  ProxyConnection(OwnedFd client, const ProxyEndpoint& proxy, int epoll, uint64_t id);
  ProxyConnection(const ProxyConnection&) = delete;
  ProxyConnection& operator=(const ProxyConnection&) = delete;

  // kUnfinished: there is more to do at once, but it is the turn of others.
  enum class Progress { kWaiting, kUnfinished, kOver };

  // What can be done without waiting. `block` is for its own use meanwhile.
  Progress Advance(std::span<char> block);

  // The proxy has been given everything that the command will ever send.
  bool upload_over() const { return upload_.over; }

 private:
  struct Direction {
    std::string unsent;  // read from one side, not yet taken by the other
    bool over = false;
  };

  Progress Connect();
  Progress Copy(Direction& direction, int from, int to, std::span<char> block);
  bool Send(Direction& direction, int to, std::string_view bytes);
  bool Watch(int fd) const;
  Progress Abort();

  OwnedFd client_, proxy_;
  std::span<const int> families_left_;  // of addresses to try
  const uint16_t port_;
  const int epoll_;
  const uint64_t id_;
  bool connected_ = false;
  bool broken_ = false;  // one side takes nothing more; it may still have said something before
  Direction upload_, download_;
};

}  // namespace holdfast::sandbox
