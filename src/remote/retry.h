// The rules about failures: whether an executor tries again, and how long it waits before that. They are values and
// functions without I/O.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>

#include "remote/registration.h"

namespace holdfast::remote {

enum class Verdict { kRetry, kRegisterAgain, kFatal };

// Decides about a failed registration. `before` is the registration that it was to replace. Each failure is fatal, with
// one exception: a rendezvous that takes many connections may be started again, so its executors wait until its
// registry is back.
Verdict Judge(const RegistryFailure& failure, const std::optional<Registration>& before);

// Decides about a failed connect. `status` is the HTTP status of a server that refused the WebSocket. The URL of a
// direct registration stays the same, so a server that forbids it (403) will not change its mind. A server that does
// not recognize it (401) may have been started again with another key, and then gives out another URL.
Verdict JudgeConnect(Form form, std::optional<unsigned> status);

// The pauses between two attempts: one second at first, twice as long each time, and never longer than 30 seconds. The
// pauses of a direct executor are a random 50 to 100 % of that, so that the executors of a rendezvous that was started
// again do not return all at once.
class BackOff {
 public:
  static constexpr std::chrono::milliseconds kFirst{1000}, kLongest{30'000};

  explicit BackOff(Form form) : form_(form) {}

  // Returns the next pause. `random` is any random number.
  std::chrono::milliseconds Next(uint64_t random);

  // Begins again with the first pause, because a connection was made.
  void Reset() { pause_ = kFirst; }

 private:
  Form form_;
  std::chrono::milliseconds pause_ = kFirst;
};

}  // namespace holdfast::remote
