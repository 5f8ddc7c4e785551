// The one owner of a file descriptor, which it closes. Functions that only use a descriptor get it as an `int`.
#pragma once

#include <unistd.h>

#include <utility>

namespace holdfast {

class OwnedFd {
 public:
  OwnedFd() = default;
  explicit OwnedFd(int fd) : fd_(fd) {}
  OwnedFd(OwnedFd&& other) noexcept : fd_(other.Release()) {}
  OwnedFd& operator=(OwnedFd&& other) noexcept {
    if (this != &other) {
      Reset();
      fd_ = other.Release();
    }
    return *this;
  }
  OwnedFd(const OwnedFd&) = delete;
  OwnedFd& operator=(const OwnedFd&) = delete;
  ~OwnedFd() { Reset(); }

  int get() const { return fd_; }
  bool is_open() const { return fd_ >= 0; }
  int Release() { return std::exchange(fd_, -1); }

  // Linux frees the descriptor even when close fails with EINTR, so there is nothing to retry.
  void Reset() {
    if (fd_ >= 0) ::close(Release());
  }

 private:
  int fd_ = -1;
};

}  // namespace holdfast
