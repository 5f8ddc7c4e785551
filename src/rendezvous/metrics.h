// The numbers of a node in the text format of Prometheus. They contain neither ids nor tokens.
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>

#include "rendezvous/refusal.h"

namespace holdfast::rendezvous {

class Metrics {
 public:
  // The places of the two sides of a pair: both here, the executor on another node, or the client on another node.
  enum class Join { kLocal, kExecutorElsewhere, kClientElsewhere };

  // The state at this moment.
  struct Gauges {
    size_t executor_connections = 0, client_connections = 0;
    size_t executors = 0, waiting_executors = 0, waiting_clients = 0, pairs = 0;
    uint64_t relayed_bytes = 0;
    bool bus_connected = false;
  };

  void CountRegistration() { ++registrations_; }
  void CountRefusal(Refusal refusal) { ++refusals_.at(static_cast<size_t>(refusal)); }
  void CountJoin(Join join) { ++joins_.at(static_cast<size_t>(join)); }

  // The time that a client has waited for a connection of its executor, with or without success.
  void CountWait(std::chrono::duration<double> wait);

  std::string Text(const Gauges& gauges) const;

 private:
  static constexpr std::array kWaitBounds = {0.001, 0.005, 0.025, 0.1, 0.5, 1.0, 2.5, 5.0};  // in seconds

  uint64_t registrations_ = 0;
  std::array<uint64_t, kRefusals> refusals_{};
  std::array<uint64_t, 3> joins_{};
  std::array<uint64_t, kWaitBounds.size() + 1> waits_{};  // the last one is for longer times
  double waited_seconds_ = 0;
};

}  // namespace holdfast::rendezvous
