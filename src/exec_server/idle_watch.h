// An idle watch calls a function when a server has had neither a connection nor a living process for some time.
#pragma once

#include <chrono>
#include <cstddef>

#include "exec_server/processes/process_resources.h"
#include "loop/event.h"
#include "loop/event_loop.h"
#include "loop/scope.h"
#include "loop/task.h"

namespace holdfast::exec_server {

class IdleWatch {
 public:
  // `processes` outlives the watch.
  IdleWatch(loop::EventLoop& loop, ProcessResources& processes, std::chrono::milliseconds limit,
            loop::Callback on_idle);
  IdleWatch(const IdleWatch&) = delete;
  IdleWatch& operator=(const IdleWatch&) = delete;

  void SetConnections(size_t count);

 private:
  bool busy() const { return connections_ > 0 || processes_.counts.alive > 0; }
  loop::Task<> Watch(std::chrono::milliseconds limit);

  loop::EventLoop& loop_;
  ProcessResources& processes_;
  loop::Callback on_idle_;
  size_t connections_ = 0;
  loop::Scope scope_;
};

}  // namespace holdfast::exec_server
