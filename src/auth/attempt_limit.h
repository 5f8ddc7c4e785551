// An AttemptLimit counts the failed attempts of addresses. An address with too many of them in a minute has to wait
// for the end of that minute. It remembers a fixed number of addresses.
//
// What it does not stop: an attacker that has many addresses.
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <optional>

#include "auth/peer_address.h"

namespace holdfast::auth {

class AttemptLimit {
 public:
  using Clock = std::chrono::steady_clock;

  static constexpr int kMaxFailures = 20;
  static constexpr std::chrono::seconds kWindow{60};
  static constexpr size_t kMaxAddresses = 256;

  // Returns the time that the address has to wait, at least a second; nothing if it may try.
  std::optional<std::chrono::seconds> WaitOf(const PeerAddress& address, Clock::time_point now) const;

  // The place of a failure in its window. The first one and the one that reaches the limit are worth a line in the log.
  enum class Failure { kFirst, kFurther, kReachesLimit, kBeyondLimit };
  Failure Count(const PeerAddress& address, Clock::time_point now);

 private:
  struct Window {
    PeerAddress address{sockaddr_storage{}};
    Clock::time_point end{};
    int failures = 0;
  };

  Window& Replace(Clock::time_point now);

  std::array<Window, kMaxAddresses> windows_;
};

}  // namespace holdfast::auth
