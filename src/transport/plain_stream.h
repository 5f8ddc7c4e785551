// A PlainStream is a ByteStream that passes bytes on unchanged, over a socket, a pipe or a terminal.
#pragma once

#include <memory>

#include "base/owned_fd.h"
#include "transport/byte_stream.h"

namespace holdfast::transport {

class PlainStream final : public ByteStream {
 public:
  // The descriptor is non-blocking.
  explicit PlainStream(OwnedFd fd);
  static std::unique_ptr<PlainStream> Borrow(int fd);

  ssize_t Read(std::span<char> buffer) override;
  ssize_t Write(std::span<const iovec> vectors) override;
  void EndWriting() override;
  void Close() override;
  bool transparent() const override { return true; }
  bool has_unsent() const override { return false; }
  int fd() const override { return fd_; }

 private:
  explicit PlainStream(int fd);

  OwnedFd owned_;  // closed if the descriptor is borrowed
  int fd_;
  bool is_socket_;
};

}  // namespace holdfast::transport
