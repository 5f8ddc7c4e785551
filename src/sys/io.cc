#include "sys/io.h"

#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>

namespace holdfast::sys {

ssize_t Read(int fd, void* buffer, size_t size) {
  for (;;) {
    ssize_t n = ::read(fd, buffer, size);
    if (n >= 0) return n;
    if (errno != EINTR) return -errno;
  }
}

ssize_t Write(int fd, const void* buffer, size_t size) {
  for (;;) {
    ssize_t n = ::write(fd, buffer, size);
    if (n >= 0) return n;
    if (errno != EINTR) return -errno;
  }
}

Result<> SetBlocking(int fd, Blocking blocking) {
  int flags = ::fcntl(fd, F_GETFL);
  if (flags < 0) return FailErrno("fcntl", "F_GETFL");
  int wanted = blocking == Blocking::kYes ? flags & ~O_NONBLOCK : flags | O_NONBLOCK;
  if (wanted != flags && ::fcntl(fd, F_SETFL, wanted) < 0) return FailErrno("fcntl", "F_SETFL");
  return {};
}

Result<Pipe> MakePipe(OurEnd ours) {
  int fds[2];
  if (::pipe2(fds, O_CLOEXEC) < 0) return FailErrno("pipe2");
  Pipe pipe{OwnedFd(fds[0]), OwnedFd(fds[1])};
  // A pipe that was just made has no other flag that could be lost.
  if (::fcntl(fds[ours == OurEnd::kRead ? 0 : 1], F_SETFL, O_NONBLOCK) < 0) return FailErrno("fcntl", "F_SETFL");
  return pipe;
}

Result<SocketPair> MakePacketPair() {
  int fds[2];
  if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, fds) < 0) return FailErrno("socketpair");
  return SocketPair{OwnedFd(fds[0]), OwnedFd(fds[1])};
}

Result<OwnedFd> OpenDevNull() {
  OwnedFd fd(::open("/dev/null", O_RDWR | O_CLOEXEC));
  if (!fd.is_open()) return FailErrno("open", "/dev/null");
  return fd;
}

Result<OwnedFd> Duplicate(int fd) {
  OwnedFd copy(::fcntl(fd, F_DUPFD_CLOEXEC, kLastReservedFd + 1));
  if (!copy.is_open()) return FailErrno("fcntl", "F_DUPFD_CLOEXEC");
  return copy;
}

Result<> ReserveLowFds() {
  for (;;) {
    TRY(OwnedFd fd, OpenDevNull());
    if (fd.get() > kLastReservedFd) return {};
    (void)fd.Release();  // held for the life of the program
  }
}

}  // namespace holdfast::sys
