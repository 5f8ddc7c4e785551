// A TaskRoot represents a started task for its waits and its scope. A started task is a chain of frames, of which the
// innermost runs or waits. The root is part of the outermost frame, so that a task needs no memory beside its frames.
#pragma once

#include <coroutine>

#include <boost/intrusive/list.hpp>

namespace holdfast::loop {

// A base class for the elements of a ListOf. An element leaves its list when it is destroyed.
using LeavesItsList = boost::intrusive::list_base_hook<boost::intrusive::link_mode<boost::intrusive::auto_unlink>>;
template <typename T>
using ListOf =
    boost::intrusive::list<T, boost::intrusive::base_hook<LeavesItsList>, boost::intrusive::constant_time_size<false>>;

class TaskRoot : public LeavesItsList {
 public:
  // Runs the task from the wait of its innermost frame to the next wait or to its end. A task whose scope has ended
  // does not run again: the scope is about to destroy it.
  void Resume(std::coroutine_handle<> innermost);

  // The outermost frame calls this when it returns.
  void SetDone() { state_ = State::kDone; }
  bool scope_ended() const { return scope_ended_; }

 private:
  friend class Scope;
  enum class State { kWaiting, kRunning, kDone };

  std::coroutine_handle<> outermost_;
  State state_ = State::kWaiting;
  bool scope_ended_ = false;
};

// A handle of a task that waits. The source that will end the wait keeps it.
struct TaskFrame {
  // Nothing happens when no task waits.
  void Resume() const {
    if (root != nullptr) root->Resume(innermost);
  }

  TaskRoot* root = nullptr;
  std::coroutine_handle<> innermost;
};

}  // namespace holdfast::loop
