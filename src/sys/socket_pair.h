// Two connected unix sockets that block, for processes that wait for messages. For the event loop there is
// MakePacketPair, whose sockets do not block.
#pragma once

#include "base/result.h"
#include "sys/io.h"

namespace holdfast::sys {

enum class SocketKind {
  kStream,
  kPacket,  // SOCK_SEQPACKET, on which one packet is one message
};

// Makes two sockets, close-on-exec and blocking.
Result<SocketPair> MakeSocketPair(SocketKind kind);

}  // namespace holdfast::sys
