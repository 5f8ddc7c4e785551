// Basic functions for descriptors. Read and Write retry a call that a signal has interrupted (EINTR). They return other
// failures as -errno, because the hot path distinguishes EAGAIN and must not build an error message for it.
#pragma once

#include <sys/types.h>

#include <cstddef>

#include "base/owned_fd.h"
#include "base/result.h"

namespace holdfast::sys {

ssize_t Read(int fd, void* buffer, size_t size);
ssize_t Write(int fd, const void* buffer, size_t size);

enum class Blocking { kYes, kNo };
Result<> SetBlocking(int fd, Blocking blocking);

struct Pipe {
  OwnedFd read_end;
  OwnedFd write_end;
};

// Both ends are close-on-exec. Our end is non-blocking. The other end, which goes to a command, is blocking.
enum class OurEnd { kRead, kWrite };
Result<Pipe> MakePipe(OurEnd ours);

struct SocketPair {
  OwnedFd ours;
  OwnedFd theirs;
};

// Makes two connected sockets of type SOCK_SEQPACKET, on which one packet is one message. They are close-on-exec and
// non-blocking.
Result<SocketPair> MakePacketPair();

Result<OwnedFd> OpenDevNull();
Result<OwnedFd> Duplicate(int fd);

inline constexpr int kLastReservedFd = 11;

// Opens /dev/null on those of the descriptors 0 to kLastReservedFd that are closed. Afterwards no file that the program
// opens gets one of these numbers. They are the numbers onto which the standard streams of a child, the control socket
// of its keeper and the keeper program are duplicated.
Result<> ReserveLowFds();

}  // namespace holdfast::sys
