// A signal watch calls a function on the loop whenever the program gets one of the given signals.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "loop/event_loop.h"

namespace holdfast::loop {

class SignalWatch {
 public:
  SignalWatch(EventLoop& loop, const std::vector<int>& signals, std::function<void(int signal)> on_signal);
  ~SignalWatch();
  SignalWatch(const SignalWatch&) = delete;
  SignalWatch& operator=(const SignalWatch&) = delete;

 private:
  struct State;
  static void Wait(const std::shared_ptr<State>& state);

  std::shared_ptr<State> state_;
};

}  // namespace holdfast::loop
