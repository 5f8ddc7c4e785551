// Functions that set which signals the calling thread blocks, and which actions signals have in the process.
#pragma once

#include <csignal>

namespace holdfast::sys {

void BlockSignals();
void LetSignalsIn();

// Returns whether the process ignores the signal.
bool IsIgnored(int signal);

// Gives every signal its default action. The function is async-signal-safe.
void ResetSignalActions();

// Blocks all signals of the thread for as long as the object exists, and restores the mask from before at its end.
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
