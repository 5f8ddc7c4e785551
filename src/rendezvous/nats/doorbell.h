// A Doorbell lets threads of the NATS library tell the loop that something has happened. They do nothing else there.
#pragma once

#include <memory>

#include "base/mutex.h"
#include "loop/event_loop.h"

namespace holdfast::rendezvous {

class Doorbell : public std::enable_shared_from_this<Doorbell> {
 public:
  Doorbell(loop::EventLoop& loop, loop::Callback on_ring) : on_ring_(std::move(on_ring)), loop_(&loop) {}

  // Makes `on_ring` run on the loop. Any thread may call this. Rings that come before `on_ring` runs become one, so at
  // most one callback of a doorbell is queued.
  void Ring();

  // Called on the loop: `on_ring` does not run afterwards, and the loop is not used any more.
  void Silence();

 private:
  void Answer();

  loop::Callback on_ring_;  // used by the loop's thread only
  Mutex mutex_;
  loop::EventLoop* loop_ GUARDED_BY(mutex_);  // null once the doorbell is silent
  bool rung_ GUARDED_BY(mutex_) = false;
};

}  // namespace holdfast::rendezvous
