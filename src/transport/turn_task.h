// A TurnTask runs its callback once after the present turn of the loop, however often it is scheduled until then. The
// callback does not run after the destructor, which may itself run inside the callback.
#pragma once

#include <memory>

#include "loop/event_loop.h"

namespace holdfast::transport {

class TurnTask {
 public:
  TurnTask(loop::EventLoop& loop, loop::Callback run);
  ~TurnTask();
  TurnTask(const TurnTask&) = delete;
  TurnTask& operator=(const TurnTask&) = delete;

  void Schedule();

 private:
  struct State {
    loop::Callback run;
    bool scheduled = false;
    bool cancelled = false;
  };

  loop::EventLoop& loop_;
  std::shared_ptr<State> state_;
};

}  // namespace holdfast::transport
