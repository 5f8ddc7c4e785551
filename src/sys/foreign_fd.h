// The owner of a descriptor that an untrusted process has chosen. Its last close may take long: that of a TCP socket
// with SO_LINGER as long as the process wants, that of a unix socket too, because it closes the descriptors that were
// sent through it and not received, and that of an epoll, an inotify or a memory file as long as it takes to free all
// that is in it. No check finds the quick ones without the risk of waiting for a lock. So the thread that drops a
// descriptor never closes it.
//
// The kernel does not let a thread linger that is at its end. A descriptor is therefore closed by the end of a thread
// that has a descriptor table of its own, with nothing but such descriptors in it: no socket blocks, and what there is
// to free is freed by a thread that nobody waits for.
//
// What it does not stop: a file on a dead mount, which may block every close and not only the last one. It blocks the
// closer, the thread through which all these descriptors go.
#pragma once

#include <utility>

#include "base/owned_fd.h"

namespace holdfast::sys {

class ForeignFd {
 public:
  ForeignFd() = default;
  ForeignFd(OwnedFd fd);  // NOLINT(google-explicit-constructor): any descriptor can be foreign
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

// Returns whether more descriptors may be taken from untrusted processes. There are two reasons against it. Many of
// them may wait for their close. Usually they wait for some microseconds; but where the system refuses what the close
// needs, because there are too many threads or a container forbids pidfd_getfd, or where a file lies on a dead mount, a
// close can block, and others wait behind it. And they may be half of all that this process may have open: the other
// half is for everything else that it does.
bool HasRoomForForeignFds();

}  // namespace holdfast::sys
