// An ObserverCursor is the place of one observer in the numbered events of one process: chunks of output, the exit and
// the close. The events are looked up where the process keeps them, so a cursor is all that the server holds for an
// observer that does not read. Output that has been dropped from the log meanwhile is reported as lost, with its
// numbers.
#pragma once

#include <cstdint>
#include <optional>
#include <variant>

#include "process/output_log.h"

namespace holdfast::exec_server {

// The events of a process up to now. Every number below `next_seq` belongs to a chunk, to the exit or to the close.
struct NumberedEvents {
  const process::OutputLog& log;
  uint64_t next_seq = 1;
  std::optional<uint64_t> exit_seq, close_seq;
};

class ObserverCursor {
 public:
  // The output from `from_seq` to `to_seq` is no longer in the log.
  struct Lost {
    uint64_t from_seq, to_seq;

    friend bool operator==(const Lost&, const Lost&) = default;
  };
  struct Exited {
    uint64_t seq;
  };
  struct Closed {
    uint64_t seq;
  };
  using Event = std::variant<Lost, const process::Chunk*, Exited, Closed>;

  // A cursor that begins after the event with this number.
  explicit ObserverCursor(uint64_t seen_seq) : seen_seq_(seen_seq) {}

  // Returns the next event and moves past it. Nothing is returned if the observer has seen all events.
  std::optional<Event> Next(const NumberedEvents& events);

  uint64_t seen_seq() const { return seen_seq_; }

 private:
  uint64_t seen_seq_;
};

}  // namespace holdfast::exec_server
