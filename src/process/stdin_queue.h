// The bytes on their way to a process's standard input: kept in order, written as the process reads. Above the high
// mark the next write is held back until there is room, which stalls this process's writes and nothing else.
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

  enum class Verdict { kAccepted, kDropped };
  using OnVerdict = std::move_only_function<void(Verdict)>;

  // The verdict comes at once, or when all but the high mark's worth is written, so that who waits for it cannot pile
  // up more. Bytes for a closed input are accepted and vanish.
  void Write(std::string bytes, OnVerdict on_verdict);

  // Forgets the writes that have no verdict yet and of which no byte was written.
  void DropHeld();

  // After what is queued: a pipe is closed, a terminal gets its end-of-file character.
  void CloseAfterQueued();

  // The process is gone: everything vanishes.
  void Abandon();

  int fd() const { return fd_.get(); }
  bool is_open() const { return fd_.is_open() && !closing_; }
  uint64_t written_bytes() const { return written_; }

 private:
  struct Held {
    std::string bytes;
    OnVerdict on_verdict;
  };

  void Pump();
  bool PumpOnce();
  void Admit();
  void GiveVerdicts();
  size_t backlog() const { return queued_.size() - sent_; }
  void FinishClosing();

  loop::EventLoop& loop_;
  OwnedFd fd_;
  Kind kind_;
  std::string queued_;
  size_t sent_ = 0;                   // of queued_
  std::deque<Held> held_;             // not queued yet
  std::vector<OnVerdict> undecided_;  // queued, but above the mark
  bool closing_ = false;
  char last_byte_ = '\n';  // written; a terminal starts at the beginning of a line
  uint64_t written_ = 0;
  std::unique_ptr<loop::FdWatch> watch_;  // while the process does not read
};

}  // namespace holdfast::process
