// The events of a command outside.
#pragma once

#include <string>

namespace holdfast::escalate {

// The end of a command: an exit code, or the signal that killed it.
struct Ending {
  int exit_code = 0;
  int signal = 0;           // 0: the command has exited
  std::string reason = {};  // of a command that could not be started and has said nothing itself

  friend bool operator==(const Ending&, const Ending&) = default;
};

class OutsideObserver {
 public:
  virtual ~OutsideObserver() = default;
  // `continue_count` is the number of times that Signal has passed SIGCONT on before the stop. If the owner has passed
  // it on more often, the stop does not last.
  virtual void OnStopped(int signal, unsigned continue_count) = 0;
  // A command that could not be executed ends with 126 or 127, as in a shell. This is the last call. The processes that
  // the command left behind are killed. The owner may destroy the command in this call and in OnStopped.
  virtual void OnEnded(const Ending& ending) = 0;
};

}  // namespace holdfast::escalate
