// The EventStream of a process delivers its events in order, to a listener or to a queue from which a task takes them.
// The queue has a bound. When it is full, either the connection is not read until there is room, so that nothing is
// lost but everything else on the connection waits too; or the stream lets further events go by, and fetches them later
// by process/read, where the server may have dropped the oldest.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <string_view>

#include "client/event_order.h"
#include "client/process_event.h"
#include "loop/event.h"

namespace holdfast::client {

enum class WhenFull { kStopReading, kReadLater };

struct Backlog {
  size_t max_bytes = 1 << 20;  // of output that nobody has taken
  WhenFull when_full = WhenFull::kStopReading;
};

class EventStream {
 public:
  // The object that a stream asks for what it cannot do itself: the session.
  class Owner {
   public:
    virtual ~Owner() = default;
    virtual void OnBacklog(EventStream& stream) = 0;  // full() or wants_retained() has changed
  };

  EventStream(Owner& owner, Backlog backlog, uint64_t published)
      : owner_(owner), backlog_(backlog), order_(published) {}

  // The next functions take in what the connection brings. Output that cannot be decoded is an error, and the
  // connection is of no use any more.
  Result<> OnOutput(uint64_t seq, wire::Stream stream, std::string_view chunk_base64);
  void OnEvent(ProcessEvent event);  // Output, Exited or Closed
  void OnLost(uint64_t from_seq, uint64_t to_seq);
  void OnRetained(RetainedOutput retained);
  void Fail(Error error);  // this is the last event

  // Returns the next event, if there is one. The last event is returned again and again.
  std::optional<ProcessEvent> Take();
  loop::Event& changed() { return changed_; }

  // From now on `listener` gets the events, beginning with those in the queue. Null leads them into the queue again.
  void Listen(EventListener* listener);

  // Returns whether the connection must not be read until there is room.
  bool full() const { return full_ && backlog_.when_full == WhenFull::kStopReading; }
  // Returns whether events were let go by that have to be read, and there is room for them.
  bool wants_retained() const { return behind_ && !full_ && !last_; }
  // The events that were let go by are being read, so further events are kept.
  void BeginCatchUp() { behind_ = false; }

  uint64_t published() const { return order_.published(); }
  const std::optional<Exited>& exit() const { return exit_; }
  const std::optional<ProcessEvent>& last() const { return last_; }  // Closed or Failed, once it is published

 private:
  bool LetGoBy();
  void PublishHeld();
  void Deliver(ProcessEvent event);
  void Queue(ProcessEvent event);
  void SetFull(bool full);

  Owner& owner_;
  const Backlog backlog_;
  EventOrder order_;
  std::deque<ProcessEvent> queue_;
  size_t queued_bytes_ = 0;
  bool full_ = false;    // from the bound on, until half of the queue is taken
  bool behind_ = false;  // events were let go by
  EventListener* listener_ = nullptr;
  std::string decoded_;  // the output that a listener gets, in memory that is used again for each chunk
  std::optional<Exited> exit_;
  std::optional<ProcessEvent> last_;
  loop::Event changed_;
};

}  // namespace holdfast::client
