#include "exec_server/processes/observer_cursor.h"

#include <algorithm>

namespace holdfast::exec_server {

std::optional<ObserverCursor::Event> ObserverCursor::Next(const NumberedEvents& events) {
  const uint64_t wanted = seen_seq_ + 1;
  if (wanted >= events.next_seq) return std::nullopt;
  seen_seq_ = wanted;
  if (events.exit_seq == wanted) return Exited{wanted};
  if (events.close_seq == wanted) return Closed{wanted};
  const process::Chunk* chunk = events.log.FirstAfter(wanted - 1);
  if (chunk != nullptr && chunk->seq == wanted) return chunk;

  uint64_t next_there = events.next_seq;
  if (chunk != nullptr) next_there = std::min(next_there, chunk->seq);
  for (const std::optional<uint64_t>& milestone : {events.exit_seq, events.close_seq}) {
    if (milestone > wanted) next_there = std::min(next_there, *milestone);
  }
  seen_seq_ = next_there - 1;
  return Lost{.from_seq = wanted, .to_seq = seen_seq_};
}

}  // namespace holdfast::exec_server
