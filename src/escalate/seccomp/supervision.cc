#include "escalate/seccomp/supervision.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <utility>

#include "base/mutex.h"
#include "escalate/seccomp/inbox.h"
#include "escalate/seccomp/loop_errands.h"
#include "escalate/seccomp/supervisor.h"
#include "sys/io.h"
#include "sys/socket_pair.h"
#include "sys/thread.h"

namespace holdfast::escalate {
namespace {

using Clock = std::chrono::steady_clock;

// The time that the loop waits for the ends of all supervisors together, in each period.
constexpr std::chrono::milliseconds kPatience(100);
constexpr std::chrono::seconds kPatiencePeriod(2);

// The number of threads that were left behind and have not ended, and the number from which on no others are started.
std::atomic<size_t> left_behind = 0;
constexpr size_t kMaxLeftBehind = 32;

// The patience of one loop. A hostile tree can hold up its supervisor, and there may be many such trees that end
// together, some of them in less than the patience.
struct Patience {
  std::chrono::milliseconds Left() {
    if (Clock::now() - period_begin > kPatiencePeriod) *this = {.period_begin = Clock::now()};
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(kPatience - spent);
    return left_behind > 0 ? std::chrono::milliseconds(0) : std::max(left, std::chrono::milliseconds(0));
  }

  Clock::time_point period_begin = {};
  Clock::duration spent = {};
};

}  // namespace

struct Supervision::Shared {
  enum class Phase { kRuns, kLeftBehind, kEnded };

  Shared(std::shared_ptr<Inbox> to_supervisor, loop::EventLoop& loop, std::weak_ptr<LoopErrands> errands)
      : inbox(std::move(to_supervisor)), post(loop, std::move(errands)) {}

  void RunSupervisor();
  void AwaitEnd();

  const std::shared_ptr<Inbox> inbox;
  ErrandPost post;
  std::unique_ptr<Supervisor> supervisor;  // belongs to the thread once that runs

  Mutex mutex;
  Condition changed;
  Phase phase GUARDED_BY(mutex) = Phase::kRuns;
};

// The listener closes with the supervisor: every call that waits, and every later one, fails with ENOSYS.
void Supervision::Shared::RunSupervisor() {
  supervisor->Run();
  supervisor.reset();
  const MutexLock lock(mutex);
  if (phase == Phase::kLeftBehind) --left_behind;
  phase = Phase::kEnded;
  changed.NotifyAll();
}

void Supervision::Shared::AwaitEnd() {
  thread_local Patience patience;  // a thread has one loop
  const MutexLock lock(mutex);
  const auto left = patience.Left();
  const auto begin = Clock::now();
  changed.WaitFor(mutex, left, [this] REQUIRES(mutex) { return phase == Phase::kEnded; });
  patience.spent += Clock::now() - begin;
  if (phase == Phase::kEnded) return;
  phase = Phase::kLeftBehind;
  ++left_behind;
}

Result<std::unique_ptr<Supervision>> Supervision::Create(loop::EventLoop& loop, process::Spawner& spawner,
                                                         Approver& approver, SupervisionOptions options) {
  JudgeFunction judge = [policy = std::move(options.policy), names = options.names](
                            const exec_policy::ExecAttempt& attempt) { return Judge(*policy, attempt, names); };
  StartOutside start = [&loop, &spawner](OutsideOrder order, OutsideObserver& observer) {
    return OutsideCommand::Start(loop, spawner, std::move(order), observer);
  };
  return Create(loop, approver, std::move(start),
                {.judge = std::move(judge),
                 .strictness = options.strictness,
                 .first = options.first,
                 .environment = std::move(options.environment)});
}

Result<std::unique_ptr<Supervision>> Supervision::Create(loop::EventLoop& loop, Approver& approver, StartOutside start,
                                                         SupervisorSettings settings) {
  if (left_behind >= kMaxLeftBehind) return Fail(ErrorKind::kLimit, "too many supervisors of execve are stuck");
  TRY(std::shared_ptr<Inbox> inbox, Inbox::Create());
  // Each supervision has an image of its own, because a supervised process could change its permissions.
  TRY(StubProgram stub, StubProgram::Create());
  TRY(sys::SocketPair helper, sys::MakeSocketPair(sys::SocketKind::kPacket));
  TRY_VOID(sys::SetBlocking(helper.ours.get(), sys::Blocking::kNo));
  auto errands = std::make_shared<LoopErrands>(approver, std::move(start), inbox);
  auto shared = std::make_shared<Shared>(inbox, loop, errands);
  shared->supervisor = std::make_unique<Supervisor>(std::move(settings), std::move(helper.ours), std::move(stub),
                                                    *shared->inbox, shared->post);
  TRY_VOID(sys::StartThread("exec-supervisor", [shared] { shared->RunSupervisor(); }));
  auto socket = std::make_shared<const OwnedFd>(std::move(helper.theirs));
  return std::unique_ptr<Supervision>(new Supervision(std::move(shared), std::move(errands), std::move(socket)));
}

Supervision::Supervision(std::shared_ptr<Shared> shared, std::shared_ptr<LoopErrands> errands,
                         std::shared_ptr<const OwnedFd> helper_socket)
    : shared_(std::move(shared)), errands_(std::move(errands)), helper_socket_(std::move(helper_socket)) {}

Supervision::~Supervision() {
  shared_->post.Close();
  shared_->inbox->Close();
  shared_->AwaitEnd();
}

}  // namespace holdfast::escalate
