// A blocking stream socket for tests, without a thread of its own. Every wait has a deadline.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>

#include "base/owned_fd.h"

namespace holdfast::support {

// The time after which a test gives up. It is far above what a healthy server needs, even sanitized on a busy machine.
inline constexpr std::chrono::milliseconds kPatience(30'000);

class TestSocket {
 public:
  TestSocket() = default;
  explicit TestSocket(OwnedFd fd) : fd_(std::move(fd)) {}

  // Connects to ws://IP:PORT or unix:///path, the forms that Listener::url() returns. A failure fails the test, and the
  // socket is closed.
  static TestSocket Connect(std::string_view url);

  // Sends all bytes. Returns false when the peer is gone. The test fails if the peer reads nothing for kPatience.
  bool Send(std::string_view bytes);

  // Returns what one recv returns: an empty text at the end of the stream or after a reset, and nothing when the time
  // is over.
  std::optional<std::string> ReceiveSome(std::chrono::milliseconds timeout = kPatience, size_t max_bytes = 64u << 10);

  // Returns everything up to the end of the stream, or nothing when the time is over first.
  std::optional<std::string> ReceiveAll(std::chrono::milliseconds timeout = kPatience);

  void CloseWrite();
  void Close() { fd_.Reset(); }

  int fd() const { return fd_.get(); }
  bool is_open() const { return fd_.is_open(); }

 private:
  OwnedFd fd_;
};

}  // namespace holdfast::support
