#include "transport/turn_task.h"

#include <utility>

namespace holdfast::transport {

TurnTask::TurnTask(loop::EventLoop& loop, loop::Callback run)
    : loop_(loop), state_(std::make_shared<State>(State{.run = std::move(run)})) {}

TurnTask::~TurnTask() { state_->cancelled = true; }

void TurnTask::Schedule() {
  if (std::exchange(state_->scheduled, true)) return;
  loop_.Post([state = state_] {
    state->scheduled = false;
    if (!state->cancelled) state->run();
  });
}

}  // namespace holdfast::transport
