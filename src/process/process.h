// A Process is one started command with the watch over it, its input and output, its numbered events and its end. It
// knows no JSON and no connection. Its Life decides what happens when; the Process owns the descriptors and timers,
// passes their events to the Life, and performs the actions that the Life returns.
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
#include "process/life.h"
#include "process/output_stream.h"
#include "process/process_owner.h"
#include "process/spawner.h"
#include "process/stdin_queue.h"
#include "process/stdio.h"
#include "process/watched_start.h"

namespace holdfast::process {

class Process : private CommandObserver, private OutputStream::Owner {
 public:
  using WallTime = std::chrono::system_clock::time_point;
  using Phase = Life::Start;

  // Starts a command under a keeper. OnStarted or OnStartFailed follows. An error here means that nothing was started.
  static Result<std::unique_ptr<Process>> Start(loop::EventLoop& loop, Spawner& spawner, const Command& command,
                                                const Io& io, const OutputLimits& limits, ProcessOwner& owner);

  // Does the same for a command that is started in another way.
  static Result<std::unique_ptr<Process>> Start(loop::EventLoop& loop, WatchedStart start, const Io& io,
                                                const OutputLimits& limits, ProcessOwner& owner);

  // Lets the output be read. Nothing is read before the first call, so that the owner can answer the start first;
  // further calls end a pause.
  void ResumeOutput();

  bool has_input() const { return has_input_; }  // a pipe or a terminal, not /dev/null
  StdinQueue* input() { return input_.get(); }   // null if there is no input, or after everything has ended
  Result<> Resize(sys::WindowSize size);         // fails if the process has no terminal
  void Signal(int signal);

  // Kills every descendant; `done` runs when none is left, before the exit is published.
  void Kill(loop::Callback done);
  // Sends SIGTERM to the process group, and calls Kill if a descendant is left after `grace`.
  void Terminate(std::chrono::milliseconds grace, loop::Callback done);

  // Kills a start that is still under way after `patience`, because an exec can hang on a dead mount.
  void CancelSlowStart(std::chrono::milliseconds patience);

  const OutputLog& log() const { return log_; }

  Phase phase() const { return life_.start(); }
  uint64_t next_seq() const { return next_seq_; }
  std::optional<pid_t> pid() const { return pid_; }  // of the command, or of its wrapper, which may still start it
  std::optional<int> exit_code() const { return life_.exit_code(); }                          // set from OnExited on
  std::optional<int> end_signal() const { return exit_code() ? end_signal_ : std::nullopt; }  // if one ended it
  // The close has its number. Life decides on it a moment before, together with the exit.
  bool closed() const { return closed_seq_.has_value(); }
  bool gone() const { return life_.gone(); }
  bool killing() const { return life_.ending() == Life::Ending::kKilling; }
  WallTime started_at() const { return started_at_; }
  std::optional<WallTime> exited_at() const { return exited_at_; }
  const Enforcement& enforcement() const { return enforcement_; }  // set from OnStarted on, if there is a sandbox
  uint64_t output_bytes() const { return output_bytes_; }
  uint64_t input_bytes() const { return input_ ? input_->written_bytes() : input_bytes_; }

 private:
  Process(loop::EventLoop& loop, const WatchedStart& start, const OutputLimits& limits, ProcessOwner& owner);
  void Adopt(loop::EventLoop& loop, Stdio stdio, bool terminal);

  void OnStarted(pid_t pid) override;
  void OnStartFailed(StartStep step, int errno_value) override;
  void OnReport(const Result<Enforcement>& outcome) override;
  void OnExited(int wait_status) override;
  void OnGone() override;
  void OnBytes(Stream stream, std::string_view bytes) override;
  void OnEndOfStream() override;
  bool WantsOutput() const override { return output_begun_ && owner_.WantsOutput(); }

  void Perform(const Actions& actions);
  void Perform(Action action);
  void PublishStartFailed(const Error& error);
  void PublishExit();
  void PublishClosed();
  void FreeStreams();
  void StartGraceTimer();
  void ShortenGrace();
  void AnswerKills();

  ProcessOwner& owner_;
  Life life_;
  OutputLog log_;
  std::unique_ptr<CommandWatch> watch_;  // present until every descendant is dead
  std::unique_ptr<StdinQueue> input_;
  std::vector<std::unique_ptr<OutputStream>> outputs_;
  loop::Timer grace_timer_;
  loop::Timer last_output_timer_;
  std::chrono::milliseconds asked_grace_{};  // the grace of the latest request that needs the grace timer
  std::chrono::steady_clock::time_point grace_deadline_;
  std::vector<loop::Callback> kill_callbacks_;

  std::string program_, cwd_;  // for the message of a failed start
  Enforcement enforcement_;
  Error start_error_{};  // why the start failed, from the keeper or the wrapper
  uint64_t next_seq_ = 1, output_bytes_ = 0, input_bytes_ = 0;
  std::optional<uint64_t> closed_seq_;  // of the close, once it is published
  WallTime started_at_ = std::chrono::system_clock::now();
  std::optional<WallTime> exited_at_;
  std::optional<int> end_signal_;
  std::optional<pid_t> pid_;
  bool has_input_ = false, terminal_ = false, output_begun_ = false;
};

}  // namespace holdfast::process
