// The limits of pipes over NATS. They are part of the protocol: all nodes have the same.
#pragma once

#include <chrono>
#include <cstddef>

namespace holdfast::rendezvous {

struct PipeSettings {
  size_t window_bytes = 1u << 20;                   // in each direction
  std::chrono::milliseconds alive_interval{2'000};  // an end that has sent nothing for so long says that it is alive
  std::chrono::milliseconds silence_limit{6'000};   // an end that has heard nothing for so long ends the pipe
};

}  // namespace holdfast::rendezvous
