// An EventOrder puts the events of one process into the order of their numbers. It does no I/O: the caller passes it
// what has arrived, and takes out what may be published. An event that was published already is dropped. An event that
// comes early is held until all events before it are there. What the answers to process/read show to be gone from the
// server becomes a Lost event.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string_view>
#include <vector>

#include "client/process_event.h"

namespace holdfast::client {

// The state of a process as one or several answers to process/read describe it: all output behind `after_seq` that
// the server still has, and the end of the process, if it has ended.
struct RetainedOutput {
  std::vector<Output> chunks = {};
  uint64_t next_seq = 1;  // the number that the next event of the process will get
  bool exited = false, closed = false, sandbox_denied = false;
  int64_t exit_code = 0;
  std::optional<wire::EndCause> end = {};
};

class EventOrder {
 public:
  // Events up to `published` are dropped.
  explicit EventOrder(uint64_t published = 0) : published_(published) {}

  enum class Place { kNext, kEarly, kKnown };
  // Tells where an event with this number belongs. The caller publishes output that is next itself, without a copy of
  // its bytes, and reports that by PublishedOutput. It gives every other event to Hold.
  Place PlaceOf(uint64_t seq) const;
  void PublishedOutput(uint64_t seq) { published_ = seq; }
  void Hold(ProcessEvent event);

  // Records that the server has dropped these events. Events that were published or are held stay as they are.
  void Skip(uint64_t from_seq, uint64_t to_seq);
  // Records that everything before the first held event is lost.
  void SkipToHeld();

  // Takes in what process/read has found. Afterwards every event before its next_seq is published, held or lost.
  void Settle(RetainedOutput retained);

  // Returns the next event that may be published, if it is there, and regards it as published.
  std::optional<ProcessEvent> Next();

  // Returns whether so many early events are held that the missing ones are not coming any more.
  bool overfull() const { return held_bytes_ > kMaxHeldBytes || held_.size() > kMaxHeldEvents; }

  // The number of the last event that was published or is part of a published Lost event.
  uint64_t published() const { return published_; }

 private:
  static constexpr size_t kMaxHeldBytes = 8 << 20, kMaxHeldEvents = 4096;

  // Returns the ranges of numbers before `end` that are neither published nor held.
  std::vector<Lost> MissingBefore(uint64_t end) const;

  uint64_t published_;
  std::map<uint64_t, ProcessEvent> held_;  // by number; a Lost event stands at its first number
  size_t held_bytes_ = 0;
  bool exit_known_ = false;  // an Exited event was published or is held
};

}  // namespace holdfast::client
