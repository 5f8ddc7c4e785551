// An Outbox is the write side of one ByteStream: everything that is appended within one turn of the loop leaves in one
// gathering write. It keeps the high and low marks of congestion. It writes only when the loop runs it, so it never
// calls its owner from inside Append.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

#include "transport/byte_stream.h"
#include "transport/outbound_queue.h"
#include "transport/turn_task.h"

namespace holdfast::transport {

class Outbox {
 public:
  enum class Progress { kSome, kDrained };  // kDrained: the queue fell below the low mark after congested() was true

  class Owner {
   public:
    // The owner must call Flush() once the descriptor of the stream accepts bytes again.
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

  // Borrows `stream`, to which it writes nothing after Shut.
  Outbox(loop::EventLoop& loop, ByteStream& stream, Marks marks, Owner& owner);

  void Append(std::string bytes);
  void AppendCopy(std::string_view bytes);
  void AppendPart(std::shared_ptr<const std::string> whole, std::string_view part);

  // Sends what a read has left unsent in the stream, if there is anything, even if nothing is queued.
  void FlushUnsent();

  void Flush();

  // Discards what is queued and everything that is appended later.
  void Shut();

  bool congested() const { return congested_; }
  bool empty() const { return queue_.empty(); }

 private:
  void OnAppended();
  void ReportProgress();

  ByteStream& stream_;
  const Marks marks_;
  Owner& owner_;
  OutboundQueue queue_;
  TurnTask flush_;
  bool congested_ = false;
  bool waiting_ = false;  // waits for the descriptor to become writable
  bool shut_ = false;
};

}  // namespace holdfast::transport
