#include "process/stdin_queue.h"

#include <cerrno>
#include <utility>

#include "sys/io.h"
#include "sys/pty.h"

namespace holdfast::process {

void StdinQueue::Write(Sender sender, std::string bytes, OnOutcome on_outcome) {
  if (!is_open()) return on_outcome(Outcome::kAccepted);
  held_.push_back({sender, std::move(bytes), std::move(on_outcome)});
  Admit();
  if (!watch_) Pump();
}

void StdinQueue::DropHeld(Sender sender) {
  std::vector<OnOutcome> dropped;
  std::erase_if(held_, [&](Held& held) {
    if (held.sender != sender) return false;
    dropped.push_back(std::move(held.on_outcome));
    return true;
  });
  for (OnOutcome& on_outcome : dropped) on_outcome(Outcome::kDropped);
}

void StdinQueue::CloseAfterQueued() {
  if (!is_open()) return;
  closing_ = true;
  if (!watch_) Pump();
}

void StdinQueue::Abandon() {
  watch_.reset();
  fd_.Reset();
  queued_ = {};
  sent_ = 0;
  AnswerQueued();
  for (Held& held : std::exchange(held_, {})) held.on_outcome(Outcome::kAccepted);
}

void StdinQueue::Admit() {
  while (!held_.empty() && backlog() < kHighWaterBytes) {
    Held held = std::move(held_.front());
    held_.pop_front();
    queued_ += held.bytes;
    unanswered_.push_back(std::move(held.on_outcome));
  }
  if (backlog() <= kHighWaterBytes) AnswerQueued();
}

void StdinQueue::AnswerQueued() {
  for (OnOutcome& on_outcome : std::exchange(unanswered_, {})) on_outcome(Outcome::kAccepted);
}

void StdinQueue::Pump() {
  watch_.reset();
  while (sent_ < queued_.size()) {
    if (!PumpOnce()) return;
    Admit();
  }
  queued_ = {};
  sent_ = 0;
  if (closing_) FinishClosing();
}

// Returns false if writing cannot go on at the moment, or ever.
bool StdinQueue::PumpOnce() {
  ssize_t n = sys::Write(fd_.get(), queued_.data() + sent_, queued_.size() - sent_);
  if (n == -EAGAIN) {
    // The watch exists only while it is needed: on a terminal the descriptor shares its readiness with the output side.
    watch_ = std::make_unique<loop::FdWatch>(loop_, fd_.get(), loop::Callback{}, [this] { Pump(); });
    watch_->WatchWritable();
    return false;
  }
  if (n < 0) {
    Abandon();  // EPIPE or EIO: no process will ever read this
    return false;
  }
  sent_ += static_cast<size_t>(n);
  written_ += static_cast<uint64_t>(n);
  if (n > 0) last_byte_ = queued_[sent_ - 1];
  if (sent_ >= kHighWaterBytes) {
    queued_.erase(0, sent_);
    sent_ = 0;
  }
  return true;
}

void StdinQueue::FinishClosing() {
  if (kind_ == Kind::kPipe) return fd_.Reset();
  closing_ = false;  // a terminal stays writable, because its end of file is an event and not a state
  auto eof = sys::EndOfFileOf(fd_.get());
  if (!eof) return;  // the terminal is gone, and every reader with it
  // In the middle of a line the first end-of-file character only passes the line on; the second one is the end of file.
  bool at_line_start = last_byte_ == '\n' || last_byte_ == '\r' || last_byte_ == eof->character;
  queued_.assign(eof->line_editing && !at_line_start ? 2 : 1, eof->character);
  Pump();
}

}  // namespace holdfast::process
