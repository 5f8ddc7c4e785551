// A StdinQueue holds the bytes on their way to a process's standard input, and writes them in order as the process
// reads. Above the high mark the next write is held back until there is room, which delays the writes to this process
// and no others.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/owned_fd.h"
#include "loop/event_loop.h"

namespace holdfast::process {

class StdinQueue {
 public:
  static constexpr size_t kHighWaterBytes = 1u << 20;

  enum class Kind { kPipe, kTerminal };
  StdinQueue(loop::EventLoop& loop, OwnedFd fd, Kind kind) : loop_(loop), fd_(std::move(fd)), kind_(kind) {}

  enum class Outcome { kAccepted, kDropped };
  using OnOutcome = std::move_only_function<void(Outcome)>;

  using Sender = uint64_t;  // the number of the client that sends a write

  // Writes `bytes`. `on_outcome` runs at once, or when no more than the high mark is left unwritten, so that a caller
  // that waits for it cannot queue more. Bytes for a closed input are accepted and discarded.
  void Write(Sender sender, std::string bytes, OnOutcome on_outcome);

  // Drops the writes of this sender that are held back and of which no byte was written.
  void DropHeld(Sender sender);

  // After the queued bytes a pipe is closed, and a terminal gets its end-of-file character.
  void CloseAfterQueued();

  // Discards everything. Called when the process is gone.
  void Abandon();

  int fd() const { return fd_.get(); }
  bool is_open() const { return fd_.is_open() && !closing_; }
  uint64_t written_bytes() const { return written_; }

 private:
  struct Held {
    Sender sender;
    std::string bytes;
    OnOutcome on_outcome;
  };

  void Pump();
  bool PumpOnce();
  void Admit();
  void AnswerQueued();
  size_t backlog() const { return queued_.size() - sent_; }
  void FinishClosing();

  loop::EventLoop& loop_;
  OwnedFd fd_;
  Kind kind_;
  std::string queued_;
  size_t sent_ = 0;                    // bytes of queued_ that were written
  std::deque<Held> held_;              // writes that are not queued yet
  std::vector<OnOutcome> unanswered_;  // writes that are queued, but above the high mark
  bool closing_ = false;
  char last_byte_ = '\n';  // the last byte written; a terminal starts at the beginning of a line
  uint64_t written_ = 0;
  std::unique_ptr<loop::FdWatch> watch_;  // present while the process does not read
};

}  // namespace holdfast::process
