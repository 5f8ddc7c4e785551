#include "loop/scope.h"

#include <utility>

#include "base/check.h"

namespace holdfast::loop {

// A task that has returned, or whose scope has ended, is destroyed here, where none of its frames is on the stack. The
// parameters of the task are destroyed after this root, which leaves the scope: one of them may own the scope.
void TaskRoot::Resume(std::coroutine_handle<> innermost) {
  if (scope_ended_) return;
  CHECK(state_ == State::kWaiting);
  state_ = State::kRunning;
  innermost.resume();
  if (state_ != State::kDone) state_ = State::kWaiting;
  if (state_ == State::kWaiting && !scope_ended_) return;
  outermost_.destroy();
}

// All tasks are marked before the first one is destroyed. Otherwise a permit that the first task returns, a turn for
// example, would resume another task of this scope.
Scope::~Scope() {
  ended_ = true;
  for (TaskRoot& task : tasks_) task.scope_ended_ = true;
  while (!tasks_.empty()) {
    TaskRoot& latest = tasks_.back();
    tasks_.pop_back();
    if (latest.state_ == TaskRoot::State::kWaiting) latest.outermost_.destroy();
  }
}

void Scope::Start(Task<> task) {
  if (ended_) return;
  const auto frame = std::exchange(task.frame_, nullptr);
  TaskRoot& root = frame.promise().own_root();
  frame.promise().Enter(root, nullptr);
  root.outermost_ = frame;
  tasks_.push_back(root);
  root.Resume(frame);
}

}  // namespace holdfast::loop
