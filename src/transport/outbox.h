// The write side of one descriptor: what is appended within one turn of the loop leaves in one gathering write. Keeps
// the congestion marks, and writes nothing on its own but from the loop, so its owner is never called from inside
// Append.
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
  enum class Progress { kSome, kDrained };  // kDrained: fell below the low mark after congested() was true

  class Owner {
   public:
    // Calls Flush() once the descriptor takes bytes again.
    virtual void WatchWritable() = 0;
    // Bytes left, or there were none. This and OnWriteFailed end the outbox's turn: the owner may destroy it.
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

  // Drops what is queued and everything appended later.
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
  bool waiting_ = false;  // for the descriptor to become writable
  bool shut_ = false;
};

}  // namespace holdfast::transport
