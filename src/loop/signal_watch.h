// A signal watch calls a function on the loop whenever the program gets one of the given signals. A program that serves
// until a signal arrives calls RunUntilSignal.
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

// Runs the loop until it is stopped. The first of the signals calls `shut_down`, and a second one ends the process at
// once.
void RunUntilSignal(EventLoop& loop, const std::vector<int>& signals, Callback shut_down);

}  // namespace holdfast::loop
