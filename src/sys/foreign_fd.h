// The owner of a descriptor that an untrusted process has chosen. The last close of a socket may block: that of a TCP
// socket with SO_LINGER for as long as the process wants, and that of a unix socket too, because it closes the
// descriptors that were sent through it and not received. So the thread that drops such a descriptor does not close it.
//
// The kernel does not let a thread linger that is at its end. A socket is therefore closed by the end of a thread that
// has a descriptor table of its own, with nothing but such sockets in it: no close blocks, whatever the socket is.
//
// What it does not stop: a close that blocks for other reasons. Anything but a socket is closed at once.
#pragma once

#include <utility>

#include "base/owned_fd.h"

namespace holdfast::sys {

class ForeignFd {
 public:
  ForeignFd() = default;
  ForeignFd(OwnedFd fd) : fd_(std::move(fd)) {}  // NOLINT(google-explicit-constructor): any descriptor can be foreign
  ForeignFd(ForeignFd&&) noexcept = default;
  ForeignFd& operator=(ForeignFd&& other) noexcept {
    std::swap(fd_, other.fd_);
    other.Reset();
    return *this;
  }
  ~ForeignFd() { Reset(); }

  int get() const { return fd_.get(); }
  bool is_open() const { return fd_.is_open(); }
  void Reset();

 private:
  OwnedFd fd_;
};

// Returns whether more descriptors may be taken from untrusted processes. Sockets wait for their close for some
// microseconds. Only where the system refuses what the close needs, because there are too many threads or a container
// forbids pidfd_getfd, can a close block, and many sockets wait behind it.
bool HasRoomForForeignFds();

}  // namespace holdfast::sys
