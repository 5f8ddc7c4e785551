#include "sandbox/proxy/relay.h"

#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <utility>

#include "sys/descriptor_passing.h"
#include "sys/io.h"

namespace holdfast::sandbox {
namespace {

constexpr size_t kBlockBytes = 64 << 10;
constexpr int kRetryMs = 100;
constexpr std::chrono::milliseconds kDrain{200};       // the time that remains to pass on what the command had sent
constexpr size_t kOtherFds = 16 + kMaxProxyEndpoints;  // descriptors besides those of connections, with some to spare

// The ids of events: the control socket has one, each listener by its index, and each connection.
constexpr uint64_t kControlId = 0, kFirstListenerId = 1, kFirstConnectionId = kFirstListenerId + kMaxProxyEndpoints;

// Returns how many connections the limit of open files allows. Each needs two descriptors.
size_t MaxConnections() {
  rlimit files;
  if (::getrlimit(RLIMIT_NOFILE, &files) < 0) return 1;
  const size_t free = std::max<size_t>(files.rlim_cur, kOtherFds) - kOtherFds;
  return std::clamp<size_t>(free / 2, 1, ProxyRelay::kMaxConnections);
}

}  // namespace

ProxyRelay::ProxyRelay(OwnedFd control, std::vector<ProxyEndpoint> endpoints)
    : control_(std::move(control)),
      epoll_(::epoll_create1(EPOLL_CLOEXEC)),
      endpoints_(std::move(endpoints)),
      max_connections_(MaxConnections()),
      next_id_(kFirstConnectionId),
      block_(kBlockBytes) {}

Result<> ProxyRelay::Run() {
  TRY_VOID(Watch(control_.get(), EPOLLIN, kControlId));
  while (!Done()) {
    std::array<epoll_event, 64> events;
    const int count = ::epoll_wait(epoll_.get(), events.data(), events.size(), WaitMs());
    if (count < 0 && errno != EINTR) return FailErrno("epoll_wait");
    for (int i = 0; i < count; ++i) TRY_VOID(OnEvent(events[static_cast<size_t>(i)].data.u64));
    AdvanceReady();
    if (starved_) AcceptAll();
  }
  return {};
}

int ProxyRelay::WaitMs() const {
  if (!ready_.empty()) return 0;
  if (end_) return static_cast<int>(std::chrono::ceil<std::chrono::milliseconds>(*end_ - Clock::now()).count());
  return starved_ ? kRetryMs : -1;
}

Result<> ProxyRelay::Watch(int fd, uint32_t events, uint64_t id) const {
  epoll_event event = {.events = events, .data = {.u64 = id}};
  if (::epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, fd, &event) == 0) return {};
  return FailErrno("epoll_ctl");
}

Result<> ProxyRelay::OnEvent(uint64_t id) {
  if (id == kControlId) return OnControl();
  if (id >= kFirstConnectionId) {
    ready_.insert(id);
  } else if (!end_) {
    Accept(id - kFirstListenerId);
  }
  return {};
}

// The control socket carries one message, and then its end.
Result<> ProxyRelay::OnControl() {
  TRY(std::vector<OwnedFd> received, sys::ReceiveDescriptors(control_.get()));
  if (received.empty()) {
    End();
    return {};
  }
  if (!listeners_.empty() || received.size() != endpoints_.size()) {
    return Fail(ErrorKind::kInvalidParams, "proxy relay: the number of listeners is not the number of proxies");
  }
  listeners_ = std::move(received);
  for (size_t i = 0; i < listeners_.size(); ++i) {
    TRY_VOID(sys::SetBlocking(listeners_[i].get(), sys::Blocking::kNo));
    TRY_VOID(Watch(listeners_[i].get(), EPOLLIN | EPOLLET, kFirstListenerId + i));
  }
  return {};
}

void ProxyRelay::End() {
  AcceptAll();
  listeners_.clear();
  control_.Reset();
  starved_ = false;
  end_ = Clock::now() + kDrain;
  for (const auto& [id, connection] : connections_) ready_.insert(id);
}

void ProxyRelay::AcceptAll() {
  starved_ = false;
  for (size_t i = 0; i < listeners_.size(); ++i) Accept(i);
}

void ProxyRelay::Accept(size_t index) {
  while (connections_.size() < max_connections_) {
    OwnedFd client(::accept4(listeners_[index].get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
    if (client.is_open()) {
      const uint64_t id = next_id_++;
      connections_.try_emplace(id, std::move(client), endpoints_[index], epoll_.get(), id);
      ready_.insert(id);
    } else if (errno == EAGAIN) {
      return;
    } else if (errno != EINTR && errno != ECONNABORTED) {
      break;
    }
  }
  starved_ = true;
}

void ProxyRelay::AdvanceReady() {
  for (const uint64_t id : std::exchange(ready_, {})) {
    const auto found = connections_.find(id);
    if (found == connections_.end()) continue;  // the connection has ended since the event
    const auto progress = found->second.Advance(block_);
    if (progress == ProxyConnection::Progress::kOver || (end_ && found->second.upload_over())) {
      connections_.erase(found);
    } else if (progress == ProxyConnection::Progress::kUnfinished) {
      ready_.insert(id);
    }
  }
}

}  // namespace holdfast::sandbox
