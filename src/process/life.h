// The life of one command as a state machine: how far its start, its exit and the attempts to end it have come, and
// what each event calls for. A Life does no I/O and reads no clock. Process tells it the events and performs the
// actions that an event returns. Every event may come in every state; one that means nothing in a state returns no
// action.
#pragma once

#include <cstdint>
#include <optional>

#include "process/life_action.h"

namespace holdfast::process {

class Life {
 public:
  enum class Start : uint8_t {
    kStarting,  // it is not known yet whether the command will run
    kStarted,   // the command has been executed
    kFailed,    // the command has not run and never will
  };

  enum class Exit : uint8_t {
    kNone,          // the command is not known to have exited
    kDraining,      // the exit is withheld while the process reads what the streams hold
    kAwaitsOutput,  // the exit is withheld until the next output, the end of all output, or the last-output timer
    kAwaitsEnd,     // the exit is withheld until no descendant is alive and the kills are answered
    kPublished,     // the owner knows the exit code
  };

  enum class Ending : uint8_t {
    kNone,          // no end was requested, or the command ended without a kill
    kStartLimited,  // a start that is still under way when the grace timer expires is killed
    kTerminating,   // SIGTERM has been sent, and what is left when the grace timer expires is killed
    kKilling,       // the keeper was told to kill every descendant
  };

  enum class StartedBy : uint8_t {
    kExecution,  // the command has started as soon as its program is executed
    kReport,     // the program is a wrapper, which reports later whether the command has started
  };

  enum class LastOutput : uint8_t {
    kPrecedesExit,  // the streams hold everything that the command wrote when its exit is known
    kMayFollow,     // the last output may reach the streams a moment after the exit is known
  };

  Life(StartedBy started_by, LastOutput last_output) : started_by_(started_by), last_output_(last_output) {}

  // Events of the start: the keeper executes the program or fails to. If the program is a wrapper, its report follows.
  Actions OnExecuted();
  Actions OnExecutionFailed();
  Actions OnStartReported();
  Actions OnFailureReported();

  // Events of the exit. No event of the start comes after OnExited. OnDrained follows when the actions of OnExited are
  // done.
  Actions OnExited(int exit_code);
  Actions OnDrained();
  Actions OnLastOutputTimer();

  // Events of the output: bytes of a stream were published; all streams have ended.
  Actions OnOutput();
  Actions OnOutputEnded();

  // Requests of the owner: a limit for the start, a graceful end, a kill. The grace timer belongs to the first two.
  Actions OnStartLimit();
  Actions OnTerminate();
  Actions OnKill();
  Actions OnGraceTimer();

  // Events of the end: no descendant is alive. OnGone follows when the actions of OnAllDead are done.
  Actions OnAllDead();
  Actions OnGone();

  StartedBy started_by() const { return started_by_; }
  Start start() const { return start_; }
  Exit exit() const { return exit_; }
  Ending ending() const { return ending_; }
  std::optional<int> exit_code() const { return exit_ == Exit::kPublished ? exit_code_ : std::nullopt; }
  bool output_ended() const { return output_ended_; }
  bool closed() const { return closed_; }  // the exit is published and all output has ended
  bool gone() const { return gone_; }      // no descendant is alive and the kills are answered

  bool operator==(const Life&) const = default;

 private:
  bool AwaitsStart() const { return start_ == Start::kStarting && ending_ != Ending::kKilling; }
  bool GraceTimerRuns() const { return ending_ == Ending::kStartLimited || ending_ == Ending::kTerminating; }
  bool ExitIsDue() const { return start_ == Start::kStarted && exit_ != Exit::kPublished; }
  Actions BeginRunning();
  Actions StopWaiting();
  Actions StopGraceTimer();
  Actions WithholdExit();
  Actions PublishExit();
  Actions PublishClosed();

  StartedBy started_by_;
  LastOutput last_output_;
  Start start_ = Start::kStarting;
  Exit exit_ = Exit::kNone;
  Ending ending_ = Ending::kNone;
  std::optional<int> exit_code_;  // set by OnExited
  bool output_ended_ = false;
  bool closed_ = false;
  bool gone_ = false;
};

}  // namespace holdfast::process
