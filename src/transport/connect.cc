#include "transport/connect.h"

#include <netdb.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <memory>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "loop/sleep.h"
#include "loop/worker_pool.h"

namespace holdfast::transport {
namespace {

using namespace std::chrono_literals;

constexpr auto kBusyServerPause = 20ms;

using Addresses = Result<std::vector<SocketAddress>>;

std::unexpected<Error> TooLate() { return Fail(ErrorKind::kTimeout, "it did not answer in time"); }

std::unexpected<Error> Unreachable(int errno_value) {
  return Fail(errno_value == ETIMEDOUT ? ErrorKind::kTimeout : ErrorKind::kDisconnected, ErrnoText(errno_value));
}

std::string LookupReason(const std::string& host, int error) {
  if (error == EAI_NONAME || error == EAI_NODATA) return fmt::format("the name {} was not found", host);
  if (error == EAI_SYSTEM) return fmt::format("looking up {}: {}", host, ErrnoText(errno));
  return fmt::format("looking up {}: {}", host, ::gai_strerror(error));
}

Addresses LookUp(const std::string& host, uint16_t port) {
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_NUMERICSERV;
  addrinfo* found = nullptr;
  const int error = ::getaddrinfo(host.c_str(), std::to_string(port).c_str(), &hints, &found);
  if (error != 0) return Fail(ErrorKind::kDisconnected, LookupReason(host, error));
  const std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)> owned(found, ::freeaddrinfo);
  std::vector<SocketAddress> addresses;
  for (const addrinfo* next = found; next != nullptr; next = next->ai_next) {
    SocketAddress& address = addresses.emplace_back();
    address.size = next->ai_addrlen;
    std::memcpy(&address.storage, next->ai_addr, next->ai_addrlen);
  }
  return addresses;
}

int PendingErrorOf(int socket) {
  int error = 0;
  socklen_t size = sizeof(error);
  if (::getsockopt(socket, SOL_SOCKET, SO_ERROR, &error, &size) < 0) return errno;
  return error;
}

// Returns 0 or an errno. EAGAIN is the answer of a unix socket whose server has a full queue.
int StartConnecting(int socket, const SocketAddress& address) {
  if (::connect(socket, address.get(), address.size) == 0) return 0;
  return errno == EINTR ? EINPROGRESS : errno;
}

}  // namespace

std::chrono::milliseconds TimeUntil(DialTime end) {
  return std::max(0ms, std::chrono::ceil<std::chrono::milliseconds>(end - std::chrono::steady_clock::now()));
}

loop::Task<Addresses> FindAddresses(loop::EventLoop& loop, std::string host, uint16_t port, DialTime end) {
  if (const auto literal = TcpAddress(host, port)) co_return std::vector{*literal};
  const auto found = std::make_shared<std::optional<Addresses>>();
  loop::Event ended;
  // A lookup cannot be stopped. When nobody waits for it any longer, it ends by itself.
  loop::WorkerPool worker(loop, {.name = "name-lookup", .usual_workers = 1, .max_workers = 1, .last_wait = 0ms});
  worker.Run([host, port, found] { *found = LookUp(host, port); }, [&ended] { ended.Notify(); });
  loop::Deadline deadline(loop, TimeUntil(end));
  if (co_await ended.NextBefore(deadline) == loop::Event::Woken::kByTime) {
    co_return Fail(ErrorKind::kTimeout, fmt::format("looking up {} took too long", host));
  }
  co_return **found;
}

loop::Task<Result<OwnedFd>> ConnectTo(loop::EventLoop& loop, SocketAddress address, DialTime end) {
  loop::Deadline deadline(loop, TimeUntil(end));
  OwnedFd socket(::socket(address.family(), SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  if (!socket.is_open()) co_return Unreachable(errno);
  int error = StartConnecting(socket.get(), address);
  while (error == EAGAIN && !deadline.passed()) {
    co_await loop::Sleep(loop, kBusyServerPause);
    error = StartConnecting(socket.get(), address);
  }
  if (error == EAGAIN) co_return TooLate();
  if (error == EINPROGRESS) {
    loop::Event writable;
    loop::FdWatch watch(loop, socket.get(), loop::Callback(), [&] { writable.Notify(); });
    watch.WatchWritable();
    if (co_await writable.NextBefore(deadline) == loop::Event::Woken::kByTime) co_return TooLate();
    error = PendingErrorOf(socket.get());
  }
  if (error != 0) co_return Unreachable(error);
  co_return socket;
}

}  // namespace holdfast::transport
