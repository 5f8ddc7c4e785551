// One started command: its keeper, its input and output, its numbered events and how it ended. Mechanism only: it knows
// no JSON and no connection.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "loop/event_loop.h"
#include "process/command/command.h"
#include "process/keeper.h"
#include "process/output_stream.h"
#include "process/process_owner.h"
#include "process/start_report_watch.h"
#include "process/stdin_queue.h"
#include "process/stdio.h"
#include "process/waiters.h"

namespace holdfast::process {

class Process : private KeeperObserver, private OutputStream::Owner {
 public:
  using WallTime = std::chrono::system_clock::time_point;
  enum class Phase { kStarting, kStarted, kFailed };

  // OnStarted or OnStartFailed follows. An error here means that nothing was started.
  static Result<std::unique_ptr<Process>> Start(loop::EventLoop& loop, Spawner& spawner, const Command& command,
                                                const Io& io, const OutputLimits& limits, ProcessOwner& owner);

  // Output is read from the first call on, so an owner can answer the start before; later ones follow a pause.
  void ResumeOutput();

  bool has_input() const { return has_input_; }  // a pipe or a terminal, not /dev/null
  StdinQueue* input() { return input_.get(); }   // null without one, and once everything has ended
  // A process without a terminal has no size to set.
  Result<> Resize(sys::WindowSize size);
  void Signal(int signal);

  // Kills every descendant; `done` runs when none is left, before the exit is published.
  void Kill(loop::Callback done);
  // SIGTERM to the group, and Kill when something is left after `grace`.
  void Terminate(std::chrono::milliseconds grace, loop::Callback done);

  // Kills a start that is still under way after `patience`: an exec can hang on a dead mount.
  void CancelSlowStart(std::chrono::milliseconds patience);

  Waiters& waiters() { return waiters_; }
  const OutputLog& log() const { return log_; }

  Phase phase() const { return phase_; }
  uint64_t next_seq() const { return next_seq_; }
  std::optional<pid_t> pid() const { return pid_; }  // of the command, or of a wrapper that may still be starting it
  std::optional<int> exit_code() const { return exit_code_; }  // set from OnExited on
  bool closed() const { return closed_; }
  bool gone() const { return gone_; }
  bool killing() const { return killing_; }
  WallTime started_at() const { return started_at_; }
  std::optional<WallTime> exited_at() const { return exited_at_; }
  uint64_t output_bytes() const { return output_bytes_; }
  uint64_t input_bytes() const { return input_ ? input_->written_bytes() : input_bytes_; }

 private:
  Process(loop::EventLoop& loop, const OutputLimits& limits, ProcessOwner& owner);
  void Adopt(loop::EventLoop& loop, Stdio stdio, bool terminal);

  void OnStarted(pid_t pid) override;
  void OnStartFailed(StartStep step, int errno_value) override;
  void OnExited(int exit_code) override;
  void OnGone() override;
  void OnBytes(Stream stream, std::string_view bytes) override;
  void OnEndOfStream() override;
  bool WantsOutput() const override { return output_begun_ && owner_.WantsOutput(); }

  void BeginRunning();
  void FailStart(const Error& error);
  void OnReport(const Result<>& verdict);
  bool OutputHasEnded() const;
  void PublishExit(int exit_code);
  void PublishClosedWhenDone();
  void AnswerKills();

  ProcessOwner& owner_;
  OutputLog log_;
  std::unique_ptr<Keeper> keeper_;
  std::optional<StartReportWatch> report_;  // until it is known whether a wrapped command has started
  std::unique_ptr<StdinQueue> input_;
  std::vector<std::unique_ptr<OutputStream>> outputs_;
  loop::Timer grace_timer_;
  loop::Timer last_output_timer_;  // while the exit of a wrapped command waits for output
  std::chrono::steady_clock::time_point grace_deadline_;
  std::vector<loop::Callback> kill_callbacks_;
  Waiters waiters_;

  std::string program_, cwd_;  // for the message of a failed start
  uint64_t next_seq_ = 1, output_bytes_ = 0, input_bytes_ = 0;
  WallTime started_at_ = std::chrono::system_clock::now();
  std::optional<WallTime> exited_at_;
  std::optional<pid_t> pid_;
  std::optional<int> exit_code_, withheld_exit_code_;  // withheld until the answer to a kill is out
  Phase phase_ = Phase::kStarting;
  bool has_input_ = false, terminal_ = false, wrapped_ = false, output_begun_ = false, killing_ = false,
       closed_ = false, gone_ = false;
};

}  // namespace holdfast::process
