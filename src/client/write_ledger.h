// A WriteLedger keeps the writes to one process that the server has not answered, in the order in which the caller made
// them. After a reconnect they are sent again under the same ids, so that the server, which remembers ids, takes each
// of them once. It does no I/O: the writes themselves are tasks, and each of them asks the ledger when it may be sent.
#pragma once

#include <cstddef>
#include <cstdint>
#include <list>

namespace holdfast::client {

class WriteLedger {
 public:
  // A connection of the session; each reconnect has a higher number.
  using ConnectionNumber = uint64_t;

  struct Entry {
    uint64_t id = 0;  // the writeId
    size_t bytes = 0;
    ConnectionNumber sent_on = 0;  // the last connection that it was sent on; 0 if it was not sent yet
  };
  using Write = std::list<Entry>::iterator;

  Write Add(size_t bytes);
  void Remove(Write write);  // answered, or given up

  // Returns whether every earlier write was sent on this connection, so that this one may follow.
  bool MaySend(Write write, ConnectionNumber connection) const;
  void MarkSent(Write write, ConnectionNumber connection) { write->sent_on = connection; }

  size_t unanswered_bytes() const { return bytes_; }
  size_t unanswered() const { return entries_.size(); }

 private:
  std::list<Entry> entries_;  // in the order of their ids
  uint64_t next_id_ = 1;
  size_t bytes_ = 0;
};

}  // namespace holdfast::client
