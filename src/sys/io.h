// Reads and writes that cannot be interrupted half-way: EINTR is retried, other failures come back as -errno, because
// the hot path branches on EAGAIN and must not build a message for it.
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

// Both ends are close-on-exec; ours is non-blocking, the other, which goes to a command, is not.
enum class OurEnd { kRead, kWrite };
Result<Pipe> MakePipe(OurEnd ours);

struct SocketPair {
  OwnedFd ours;
  OwnedFd theirs;
};

// SOCK_SEQPACKET: one packet is one message. Close-on-exec and non-blocking.
Result<SocketPair> MakePacketPair();

Result<OwnedFd> OpenDevNull();
Result<OwnedFd> Duplicate(int fd);

inline constexpr int kLastReservedFd = 10;

// Occupies descriptors 0 to kLastReservedFd with /dev/null where they are closed. Afterwards nothing the program opens
// lands on a number that a child's stdio, its keeper's control socket or the keeper program is about to be duplicated
// onto.
Result<> ReserveLowFds();

}  // namespace holdfast::sys
