// ProxyRelay is the work of the bridge: it accepts the connections of a command and carries them to the proxies, in one
// thread.
//
// The number of connections is bounded: while kMaxConnections are open, or no descriptor is left, further ones wait in
// the queues of the listeners.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <unordered_map>
#include <vector>

#include "base/owned_fd.h"
#include "base/result.h"
#include "sandbox/proxy/connection.h"
#include "sandbox/proxy/routes.h"

namespace holdfast::sandbox {

class ProxyRelay {
 public:
  static constexpr size_t kMaxConnections = 512;

  // `control` is a packet socket by which the listeners come: one per endpoint, all in one message.
  ProxyRelay(OwnedFd control, std::vector<ProxyEndpoint> endpoints);

  // Runs until `control` is at its end. Bytes that the command had sent by then still go to the proxies, if these
  // accept them within 200 ms.
  Result<> Run();

 private:
  using Clock = std::chrono::steady_clock;

  bool Done() const { return end_ && (connections_.empty() || Clock::now() >= *end_); }
  int WaitMs() const;
  Result<> Watch(int fd, uint32_t events, uint64_t id) const;
  Result<> OnEvent(uint64_t id);
  Result<> OnControl();
  void End();
  void AcceptAll();
  void Accept(size_t index);
  void AdvanceReady();

  OwnedFd control_, epoll_;
  std::vector<ProxyEndpoint> endpoints_;
  std::vector<OwnedFd> listeners_;  // one for each endpoint
  size_t max_connections_;
  std::unordered_map<uint64_t, ProxyConnection> connections_;
  std::set<uint64_t> ready_;  // connections with something to do, the oldest first
  uint64_t next_id_;
  bool starved_ = false;  // a connection may be waiting in a queue because there was no room to accept it
  std::optional<Clock::time_point> end_;  // the latest end; present once `control` has ended
  std::vector<char> block_;
};

}  // namespace holdfast::sandbox
