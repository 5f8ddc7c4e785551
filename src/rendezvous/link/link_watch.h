// A LinkWatch is the connection by which two nodes watch over each other once one has dialled the other: each end sends
// a byte several times a second. It ends as soon as the other node dies, and within a second of the moment at which the
// machine of the other node acknowledges nothing any more; then all links of the watch end with it. Links cannot notice
// that themselves, because a link on which nothing is under way asks for no acknowledgement, and one whose receiver
// does not read must not end.
//
// A node that stands still without dying is noticed after some seconds.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <vector>

#include "loop/event_loop.h"
#include "rendezvous/relay/leg.h"
#include "transport/byte_stream.h"
#include "transport/connection_slots.h"

namespace holdfast::rendezvous {

class LinkWatch {
 public:
  // `on_ended` is called once, when the links have been cut; it may destroy the watch.
  LinkWatch(loop::EventLoop& loop, std::unique_ptr<transport::ByteStream> stream, transport::Slot slot,
            std::function<void()> on_ended);
  ~LinkWatch();  // cuts the links

  // The link ends with the watch.
  void Add(const std::shared_ptr<Leg>& link) { links_.push_back(link); }

 private:
  using Clock = std::chrono::steady_clock;

  void Beat();
  bool ReadAll();
  void CutLinks();
  void End();

  std::unique_ptr<transport::ByteStream> stream_;
  const transport::Slot slot_;
  std::function<void()> on_ended_;
  std::vector<std::weak_ptr<Leg>> links_;
  Clock::time_point heard_ = Clock::now();
  loop::FdWatch watch_;
  loop::Timer timer_;
};

}  // namespace holdfast::rendezvous
