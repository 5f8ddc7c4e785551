// The output relay writes what a process prints to standard output and standard error of this program. When a reader is
// slow, or a question to the user is open, the relay stops to take events, so that in the end the process itself waits,
// and nothing grows without bound.
// Bytes go from the decoded message to write(2) without a copy in between.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "cli/runs/terminal_questions.h"
#include "cli/runs/wakeup.h"
#include "cli/terminal/local_io.h"
#include "client/process.h"
#include "client/process_event.h"
#include "loop/event_loop.h"
#include "loop/scope.h"
#include "loop/task.h"

namespace holdfast::cli {

class OutputRelay final : private client::EventListener {
 public:
  // `process` and `questions` outlive the relay. `changed` is notified when the state below has changed.
  OutputRelay(loop::EventLoop& loop, client::Process& process, TerminalQuestions& questions, Wakeup& changed);
  ~OutputRelay() override;
  OutputRelay(const OutputRelay&) = delete;
  OutputRelay& operator=(const OutputRelay&) = delete;

  void Start();
  // Takes no further event. What it has taken is still written.
  void Stop();

  // Returns whether no event follows and everything is written.
  bool finished() const { return last_ && !blocked(); }
  const std::optional<client::Exited>& exit() const { return exit_; }
  const std::optional<Error>& failure() const { return failure_; }  // the process can no longer be followed
  int write_error() const { return write_error_; }                  // an errno; 0 while all is well
  uint64_t lost_events() const { return lost_events_; }

 private:
  struct Sink {
    Sink(loop::EventLoop& loop, int fd, loop::Callback on_writable);
    LocalOutput output;
    loop::FdWatch watch;
    std::string pending;  // the bytes that the reader has not yet taken, or that a question holds back
  };

  void OnOutput(uint64_t seq, wire::Stream stream, std::string_view bytes) override;
  void OnEvent(const client::ProcessEvent& event) override;

  bool blocked() const { return questions_.open() || !sinks_[0].pending.empty() || !sinks_[1].pending.empty(); }
  loop::Task<> GoOnAfterQuestions();
  void OnWritable(Sink& sink);
  void Resume();
  void FailWith(int error);

  client::Process& process_;
  TerminalQuestions& questions_;
  Wakeup& changed_;
  std::array<Sink, 2> sinks_;
  bool resuming_ = false, last_ = false;
  std::optional<client::Exited> exit_;
  std::optional<Error> failure_;
  int write_error_ = 0;
  uint64_t lost_events_ = 0;
  loop::Scope scope_;
};

}  // namespace holdfast::cli
