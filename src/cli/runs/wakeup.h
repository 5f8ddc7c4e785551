// A wake-up notifies one task that something has happened. The task runs in a later turn of the loop, because it may
// destroy the objects that report the news.
#pragma once

#include <memory>

#include "loop/event.h"
#include "loop/event_loop.h"

namespace holdfast::cli {

class Wakeup {
 public:
  explicit Wakeup(loop::EventLoop& loop) : loop_(loop) {}

  void NotifyLater() {
    loop_.Post([weak = std::weak_ptr(event_)] {
      if (const auto event = weak.lock()) event->Notify();
    });
  }
  loop::Event& event() { return *event_; }

 private:
  loop::EventLoop& loop_;
  const std::shared_ptr<loop::Event> event_ = std::make_shared<loop::Event>();
};

}  // namespace holdfast::cli
