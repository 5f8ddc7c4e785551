// A TCP proxy that breaks connections. Each connection through it lives for a random time and a random number of bytes,
// is forwarded in random pieces, and is then cut without a goodbye; some are cut before the first byte.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <list>
#include <random>
#include <thread>

#include "base/owned_fd.h"

namespace holdfast::support {

class FaultyProxy {
 public:
  // Forwards to this port of 127.0.0.1.
  FaultyProxy(uint16_t server_port, uint32_t seed);
  ~FaultyProxy();
  FaultyProxy(const FaultyProxy&) = delete;
  FaultyProxy& operator=(const FaultyProxy&) = delete;

  uint16_t port() const { return port_; }
  int cuts() const { return cuts_; }

 private:
  using Clock = std::chrono::steady_clock;
  struct Pair {
    OwnedFd client, server;
    size_t bytes_left;
    Clock::time_point cut_at;
  };

  void Serve();
  void Accept();
  bool Forward(Pair& pair, int from, int to);
  void Cut(Pair& pair);
  uint32_t Random(uint32_t low, uint32_t high) { return std::uniform_int_distribution<uint32_t>(low, high)(random_); }

  const uint16_t server_port_;
  OwnedFd listener_;
  uint16_t port_ = 0;
  std::mt19937 random_;
  std::list<Pair> pairs_;
  std::atomic<int> cuts_ = 0;
  std::atomic<bool> stopping_ = false;
  std::thread thread_;
};

}  // namespace holdfast::support
