// The first steps of a dialled connection: finding the addresses of a host, and connecting a socket. The error of each
// step is only the reason, such as "Connection refused"; Dial names the server.
#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "base/owned_fd.h"
#include "base/result.h"
#include "loop/event.h"
#include "loop/task.h"
#include "transport/socket_address.h"

namespace holdfast::transport {

using DialTime = std::chrono::steady_clock::time_point;

// Returns the time until `end`, which is not negative.
std::chrono::milliseconds TimeUntil(DialTime end);

// Returns the addresses of a host in the order in which they should be tried. A name is looked up on a thread of its
// own, because that may take any time.
loop::Task<Result<std::vector<SocketAddress>>> FindAddresses(loop::EventLoop& loop, std::string host, uint16_t port,
                                                             DialTime end);

// Returns a socket that is connected to one of the addresses. They are tried in order, and each gets an equal share of
// the time that is left. The socket is non-blocking and close-on-exec.
loop::Task<Result<OwnedFd>> ConnectToAny(loop::EventLoop& loop, std::vector<SocketAddress> addresses, DialTime end);

}  // namespace holdfast::transport
