// Signals of the calling thread: which are blocked, and what they do to the process.
#pragma once

#include <csignal>

namespace holdfast::sys {

void BlockSignals();
void LetSignalsIn();

// Every signal has its default action afterwards. Async-signal-safe.
void ResetSignalActions();

// All signals wait for as long as this exists; then the mask is as it was before.
class SignalsBlocked {
 public:
  SignalsBlocked();
  ~SignalsBlocked();
  SignalsBlocked(const SignalsBlocked&) = delete;
  SignalsBlocked& operator=(const SignalsBlocked&) = delete;

 private:
  sigset_t before_;
};

}  // namespace holdfast::sys
