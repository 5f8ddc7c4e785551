// The first steps of a dialled connection: finding the addresses of a host, and connecting a socket to one of them. The
// error of each step is only the reason, such as "Connection refused"; Dial names the server.
#pragma once

#include <chrono>
#include <functional>
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

// Returns a socket that is connected to the address. It is non-blocking and close-on-exec.
loop::Task<Result<OwnedFd>> ConnectTo(loop::EventLoop& loop, SocketAddress address, DialTime end);

// Makes an attempt at one address after the other, until one succeeds or gets an answer that is a refusal. Each attempt
// has an equal share of the time that is left, so that a machine that does not answer leaves time for the others.
template <typename T>
loop::Task<Result<T>> TryInTurn(std::vector<SocketAddress> addresses, DialTime end,
                                std::function<loop::Task<Result<T>>(SocketAddress, DialTime)> attempt) {
  Result<T> outcome = Fail(ErrorKind::kDisconnected, "the host has no address");
  for (size_t tried = 0; tried < addresses.size(); ++tried) {
    const DialTime now = std::chrono::steady_clock::now();
    outcome = co_await attempt(addresses[tried], now + TimeUntil(end) / (addresses.size() - tried));
    if (outcome) break;
    if (outcome.error().kind != ErrorKind::kDisconnected && outcome.error().kind != ErrorKind::kTimeout) break;
  }
  co_return std::move(outcome);
}

}  // namespace holdfast::transport
