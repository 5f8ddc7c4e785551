// A scope owns the tasks of one object, such as an attachment, a session or a server. When the scope ends, the tasks
// that still wait are destroyed where they wait, the latest first, and none of their code runs afterwards except the
// destructors of their locals. A scope is the last member of its owner, so that its tasks are destroyed before the
// members that they use.
#pragma once

#include "loop/task.h"
#include "loop/task_root.h"

namespace holdfast::loop {

class Scope {
 public:
  Scope() = default;
  // A task may end the scope that it runs in; a request that closes its connection does so. The task then goes on to
  // its next wait or its end, and is destroyed there.
  ~Scope();
  Scope(const Scope&) = delete;
  Scope& operator=(const Scope&) = delete;

  // Runs the task to its first wait or to its end. The task may end this scope. A scope that is ending does not start
  // the task: it destroys it, together with its arguments.
  void Start(Task<> task);

  // Returns whether no task waits or runs.
  bool empty() const { return tasks_.empty(); }

 private:
  ListOf<TaskRoot> tasks_;  // in the order of their start
  bool ended_ = false;
};

}  // namespace holdfast::loop
