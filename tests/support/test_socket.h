// A blocking stream socket for tests, without a thread of its own. Every wait has a deadline.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>

#include "base/owned_fd.h"

namespace holdfast::support {

inline constexpr std::chrono::milliseconds kPatience(10'000);  // far above what a healthy server needs, even sanitized

class TestSocket {
 public:
  TestSocket() = default;
  explicit TestSocket(OwnedFd fd) : fd_(std::move(fd)) {}

  // ws://IP:PORT or unix:///path, as Listener::url() says it. A failure fails the test and gives a closed socket.
  static TestSocket Connect(std::string_view url);

  // Sends all of it. False when the peer is gone; a peer that takes nothing for kPatience fails the test.
  bool Send(std::string_view bytes);

  // What one recv returns: empty at the end of the stream (a reset counts), nothing when the time is over.
  std::optional<std::string> ReceiveSome(std::chrono::milliseconds timeout = kPatience, size_t max_bytes = 64u << 10);

  // Everything up to the end of the stream; nothing when the time is over first.
  std::optional<std::string> ReceiveAll(std::chrono::milliseconds timeout = kPatience);

  void CloseWrite();
  void Close() { fd_.Reset(); }

  int fd() const { return fd_.get(); }
  bool is_open() const { return fd_.is_open(); }

 private:
  OwnedFd fd_;
};

}  // namespace holdfast::support
