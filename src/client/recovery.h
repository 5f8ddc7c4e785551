// A Recovery decides, while a session is without a connection, when the client dials again and when it gives up. It
// does no I/O and knows no clock but the times that it is given.
#pragma once

#include <chrono>
#include <optional>
#include <string>

#include "base/result.h"

namespace holdfast::client {

class Recovery {
 public:
  using Time = std::chrono::steady_clock::time_point;

  struct Limits {
    std::chrono::milliseconds every{100};       // between the starts of two attempts
    std::chrono::milliseconds give_up{25'000};  // after the loss of the connection
  };

  Recovery(Limits limits, Time lost_at) : limits_(limits), lost_at_(lost_at), next_attempt_(lost_at) {}

  // Records that an attempt begins.
  void Begin(Time now) { next_attempt_ = now + limits_.every; }

  // The server could not be reached, or the connection ended before the session was attached again.
  void OnUnreachable(const Error& error) { cause_ = error; }
  // The server has refused `initialize`, or the connection itself for good. It is asked again only while it believes
  // that the lost connection still lives; every other refusal is final.
  void OnRefused(const Error& error);

  // Returns the time of the next attempt; nothing if there is none, and then failure() has the reason.
  std::optional<Time> NextAttempt() const;
  Error failure() const;

 private:
  Limits limits_;
  Time lost_at_, next_attempt_;
  std::optional<Error> cause_;
  bool final_ = false;
};

}  // namespace holdfast::client
