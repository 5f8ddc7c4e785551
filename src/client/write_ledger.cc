#include "client/write_ledger.h"

#include <iterator>

namespace holdfast::client {

WriteLedger::Write WriteLedger::Add(size_t bytes) {
  bytes_ += bytes;
  entries_.push_back({.id = next_id_++, .bytes = bytes});
  return std::prev(entries_.end());
}

void WriteLedger::Remove(Write write) {
  bytes_ -= write->bytes;
  entries_.erase(write);
}

bool WriteLedger::MaySend(Write write, ConnectionNumber connection) const {
  // Writes are sent in their order, so the one before this one speaks for all the others.
  return write == entries_.begin() || std::prev(write)->sent_on == connection;
}

}  // namespace holdfast::client
