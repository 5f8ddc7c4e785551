// An Outbox is the write side of one descriptor: everything that is appended within one turn of the loop leaves in one
// gathering write. It keeps the high and low marks of congestion. It writes only when the loop runs it, so it never
// calls its owner from inside Append.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "transport/outbound_queue.h"
#include "transport/turn_task.h"

namespace holdfast::transport {

class Outbox {
 public:
  enum class Progress { kSome, kDrained };  // kDrained: the queue fell below the low mark after congested() was true

  class Owner {
   public:
    // The owner must call Flush() once the descriptor accepts bytes again.
    virtual void WatchWritable() = 0;
    // A flush has written bytes, or had none to write. The outbox does nothing after this call or OnWriteFailed, so the
    // owner may destroy it in either.
    virtual void OnFlushed(Progress progress) = 0;
    virtual void OnWriteFailed() = 0;

   protected:
    ~Owner() = default;
  };

  struct Marks {
    size_t high_water_bytes;
    size_t low_water_bytes;
  };

  // Borrows `fd`, which is non-blocking.
  Outbox(loop::EventLoop& loop, int fd, Marks marks, Owner& owner);

  void Append(std::string bytes);
  void AppendCopy(std::string_view bytes);
  void AppendPart(std::shared_ptr<const std::string> whole, std::string_view part);

  void Flush();

  // Discards what is queued and everything that is appended later.
  void Shut();

  bool congested() const { return congested_; }
  bool empty() const { return queue_.empty(); }

 private:
  ssize_t Write(std::span<iovec> vectors) const;
  void OnAppended();
  void ReportProgress();

  const int fd_;
  const bool is_socket_;
  const Marks marks_;
  Owner& owner_;
  OutboundQueue queue_;
  TurnTask flush_;
  bool congested_ = false;
  bool waiting_ = false;  // waits for the descriptor to become writable
  bool shut_ = false;
};

}  // namespace holdfast::transport
