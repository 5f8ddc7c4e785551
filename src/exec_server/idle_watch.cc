#include "exec_server/idle_watch.h"

#include <utility>

namespace holdfast::exec_server {

IdleWatch::IdleWatch(loop::EventLoop& loop, ProcessResources& processes, std::chrono::milliseconds limit,
                     loop::Callback on_idle)
    : loop_(loop), processes_(processes), on_idle_(std::move(on_idle)) {
  scope_.Start(Watch(limit));
}

void IdleWatch::SetConnections(size_t count) {
  connections_ = count;
  processes_.activity.Notify();
}

loop::Task<> IdleWatch::Watch(std::chrono::milliseconds limit) {
  for (;;) {
    while (busy()) co_await processes_.activity.Next();
    loop::Deadline deadline(loop_, limit);
    const auto woken = co_await processes_.activity.NextBefore(deadline);
    if (woken == loop::Event::Woken::kByTime) co_return on_idle_();
  }
}

}  // namespace holdfast::exec_server
