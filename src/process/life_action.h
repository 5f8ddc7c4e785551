// The actions that the Life of a command (life.h) asks its Process to perform.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>

namespace holdfast::process {

enum class Action : uint8_t {
  kPublishStarted,         // tell the owner that the command runs
  kPublishStartFailed,     // tell the owner why the keeper or the wrapper could not start the command
  kPublishStartCancelled,  // tell the owner that a kill came before the start was known
  kPublishKeeperLost,      // tell the owner that the keeper was killed before the start was known
  kDrainOutput,            // read what the streams hold at this moment
  kEndOutput,              // read what the streams hold at this moment, and let them end with that
  kStartLastOutputTimer,   // the exit waits for output until this timer expires
  kStopLastOutputTimer,    // the exit no longer waits for output
  kPublishExit,            // tell the owner the exit code
  kPublishClosed,          // tell the owner that no numbered event follows, and abandon the input
  kCloseOutput,            // close the descriptors of the streams, one of which may be in the middle of a call
  kFreeStreams,            // free the streams and the input altogether
  kSignalTerm,             // send SIGTERM to the command's process group
  kStartGraceTimer,        // a start or an end that takes longer than this timer is cut short by a kill
  kShortenGrace,           // move the deadline of the grace timer to the requested one if that is earlier
  kStopGraceTimer,         // nothing is killed any more because of this timer
  kKillAll,                // tell the keeper to kill every descendant
  kAnswerKills,            // call the callbacks of Kill and Terminate
  kPublishGone,            // tell the owner that no descendant is alive
};

// The actions that one event calls for, in the order in which they are performed.
class Actions {
 public:
  Actions() = default;
  Actions(std::initializer_list<Action> actions) {
    for (const Action action : actions) Add(action);
  }

  void Add(Action action) { actions_[size_++] = action; }
  void Add(const Actions& others) {
    for (const Action action : others) Add(action);
  }

  const Action* begin() const { return actions_.data(); }
  const Action* end() const { return actions_.data() + size_; }

 private:
  std::array<Action, 8> actions_{};
  size_t size_ = 0;
};

}  // namespace holdfast::process
