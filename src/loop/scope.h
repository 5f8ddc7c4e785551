// A scope owns the tasks that belong to something: an attachment, a session, a server. Its end is the end of whatever
// still waits in it, the latest task first, and nothing of these tasks runs afterwards. A scope is the last
// member of its owner, so that its tasks go before what they use.
#pragma once

#include "loop/task.h"
#include "loop/task_root.h"

namespace holdfast::loop {

class Scope {
 public:
  Scope() = default;
  // A task may end the scope that it runs in, a request that closes its connection for example. Its frame then lives on
  // until it waits or returns, and ends there.
  ~Scope();
  Scope(const Scope&) = delete;
  Scope& operator=(const Scope&) = delete;

  // The task runs to its first wait or to its end, and may end this scope. A scope that is ending starts nothing: it
  // destroys the task, with what was passed to it.
  void Start(Task<> task);

  // Whether no task is waiting or running.
  bool empty() const { return tasks_.empty(); }

 private:
  ListOf<TaskRoot> tasks_;  // in the order of their start
  bool ended_ = false;
};

}  // namespace holdfast::loop
