#include "exec_server/processes/long_poll.h"

#include <algorithm>

namespace holdfast::exec_server {
namespace {

// Far enough to be for ever, near enough for the clock's arithmetic.
constexpr uint64_t kLongestWaitMs = 1000ull * 60 * 60 * 24 * 365;

// Owned by its entry in the process's waiters: removing that entry ends it.
struct Poll {
  Poll(loop::EventLoop& loop, std::shared_ptr<ManagedProcess> polled)
      : process(std::move(polled)), timer(loop, [this] { Finish(PollEnd::kTimedOut); }) {}

  void OnEvent() {
    if (ready(*process)) Finish(PollEnd::kReady);
  }

  void Finish(PollEnd end) {
    auto keep_alive = self.lock();
    timer.Stop();
    process->process().waiters().Remove(token);
    answer(*process, end);
  }

  std::shared_ptr<ManagedProcess> process;
  std::move_only_function<bool(ManagedProcess&)> ready;
  std::move_only_function<void(ManagedProcess&, PollEnd)> answer;
  loop::Timer timer;
  process::Waiters::Token token = 0;
  std::weak_ptr<Poll> self;
};

}  // namespace

void PollProcess(loop::EventLoop& loop, std::shared_ptr<ManagedProcess> process, std::optional<uint64_t> timeout_ms,
                 std::move_only_function<bool(ManagedProcess&)> ready,
                 std::move_only_function<void(ManagedProcess&, PollEnd)> answer) {
  if (ready(*process)) return answer(*process, PollEnd::kReady);
  if (timeout_ms == 0) return answer(*process, PollEnd::kTimedOut);
  auto poll = std::make_shared<Poll>(loop, std::move(process));
  poll->self = poll;
  poll->ready = std::move(ready);
  poll->answer = std::move(answer);
  if (timeout_ms) poll->timer.Start(std::chrono::milliseconds(std::min(*timeout_ms, kLongestWaitMs)));
  poll->token = poll->process->process().waiters().Add([poll] { poll->OnEvent(); });
}

}  // namespace holdfast::exec_server
