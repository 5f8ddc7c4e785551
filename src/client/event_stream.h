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
    virtual void OnBacklog(EventStream& stream) = 0;  // full() or behind() has changed
  };

  EventStream(Owner& owner, Backlog backlog, uint64_t published);

  // What the connection brings.
  void OnOutput(uint64_t seq, wire::Stream stream, std::string_view chunk_base64);
  void OnEvent(ProcessEvent event);  // Exited or Closed
  void OnLost(uint64_t from_seq, uint64_t to_seq);
  void OnReading(ProcessReading reading);
  void Fail(Error error);  // the last event

  // The next event, if there is one; the last event is returned again and again.
  std::optional<ProcessEvent> Take();
  loop::Event& changed() { return changed_; }

  // From now on `listener` is told the events, beginning with those in the queue. Null returns to the queue.
  void Listen(EventListener* listener);

  bool full() const { return queued_bytes_ >= backlog_.max_bytes && backlog_.when_full == WhenFull::kStopReading; }
  // Returns whether events were let go by that have to be read, and there is room for them.
  bool wants_reading() const { return behind_ && !reading_ && queued_bytes_ < backlog_.max_bytes; }
  void BeginReading() { reading_ = true; }

  uint64_t published() const { return order_.published(); }
  const std::optional<Exited>& exit() const { return exit_; }
  bool ended() const { return last_.has_value(); }
  const std::optional<ProcessEvent>& last() const { return last_; }  // Closed or Failed, once it is published

 private:
  bool LetsGoBy() const { return behind_ || (queued_bytes_ >= backlog_.max_bytes && !listener_); }
  void PublishOutput(uint64_t seq, wire::Stream stream, std::string_view chunk_base64);
  void Publish(ProcessEvent event);
  void PublishHeld();
  void Deliver(ProcessEvent event);
  void Fall();

  Owner& owner_;
  const Backlog backlog_;
  EventOrder order_;
  std::deque<ProcessEvent> queue_;
  size_t queued_bytes_ = 0;
  EventListener* listener_ = nullptr;
  std::string decoded_;  // the buffer of the listener's output, used again for each chunk
  bool behind_ = false, reading_ = false;
  std::optional<Exited> exit_;
  std::optional<ProcessEvent> last_;
  loop::Event changed_;
};

}  // namespace holdfast::client
