#include "escalate/seccomp/supervision.h"

#include <utility>

#include "escalate/outside/outside_command.h"
#include "escalate/seccomp/supervision_thread.h"

namespace holdfast::escalate {
namespace {

class SupervisionByThread final : public Supervision {
 public:
  explicit SupervisionByThread(std::unique_ptr<SupervisionThread> thread) : thread_(std::move(thread)) {}

  std::shared_ptr<const OwnedFd> helper_socket() const override { return thread_->helper_socket(); }

 private:
  const std::unique_ptr<SupervisionThread> thread_;
};

}  // namespace

Result<std::unique_ptr<Supervision>> Supervision::Create(loop::EventLoop& loop, process::Spawner& spawner,
                                                         Approver& approver, SupervisionOptions options) {
  JudgeFunction judge = [policy = std::move(options.policy), names = options.names](
                            const exec_policy::ExecAttempt& attempt) { return Judge(*policy, attempt, names); };
  StartOutside start = [&loop, &spawner](OutsideOrder order, OutsideObserver& observer) {
    return OutsideCommand::Start(loop, spawner, std::move(order), observer);
  };
  SupervisorSettings settings{.judge = std::move(judge), .strictness = options.strictness, .first = options.first};
  TRY(auto thread, SupervisionThread::Create(loop, approver, std::move(start), std::move(settings)));
  return std::make_unique<SupervisionByThread>(std::move(thread));
}

}  // namespace holdfast::escalate
