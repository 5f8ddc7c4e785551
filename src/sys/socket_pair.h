// Two unix sockets that are connected to each other, for processes that wait for what comes. For the loop there is
// MakePacketPair.
#pragma once

#include "base/result.h"
#include "sys/io.h"

namespace holdfast::sys {

enum class SocketKind {
  kStream,
  kPacket,  // SOCK_SEQPACKET: one packet is one message
};

// Close-on-exec and blocking.
Result<SocketPair> MakeSocketPair(SocketKind kind);

}  // namespace holdfast::sys
