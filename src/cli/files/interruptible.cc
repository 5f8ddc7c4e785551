#include "cli/files/interruptible.h"

#include <csignal>
#include <utility>
#include <vector>

#include "loop/scope.h"
#include "sys/signals.h"

namespace holdfast::cli {
namespace {

// A signal that the caller of this program ignores, as nohup does with SIGHUP, stays ignored.
std::vector<int> Interruptions() {
  std::vector<int> signals;
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) {
    if (!sys::IsIgnored(signal)) signals.push_back(signal);
  }
  return signals;
}

loop::Task<> Finish(loop::Task<> work, bool& done, loop::Event& changed) {
  co_await std::move(work);
  done = true;
  changed.Notify();  // may end this task's scope
}

}  // namespace

Interruptible::Interruptible(loop::EventLoop& loop)
    : loop_(loop), watch_(loop, Interruptions(), [this](int signal) {
        signal_ = signal;
        came_ = true;
        changed_.Notify();
      }) {}

loop::Task<bool> Interruptible::Run(loop::Task<> work, std::optional<std::chrono::milliseconds> limit) {
  bool done = false;
  came_ = false;
  loop::Deadline deadline(loop_, limit);
  loop::Scope scope;
  scope.Start(Finish(std::move(work), done, changed_));
  while (!done && !came_ && !deadline.passed()) co_await changed_.NextBefore(deadline);
  co_return done;
}

}  // namespace holdfast::cli
