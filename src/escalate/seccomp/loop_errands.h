// LoopErrands does the errands of a supervisor on the loop's thread. It owns the open questions and the commands
// outside. ErrandPost is the end of it on the supervisor's thread.
#pragma once

#include <cstdint>
#include <map>
#include <memory>

#include "base/mutex.h"
#include "escalate/seccomp/errands.h"
#include "escalate/seccomp/inbox.h"
#include "loop/event_loop.h"
#include "loop/scope.h"
#include "loop/task.h"

namespace holdfast::escalate {

class LoopErrands {
 public:
  // `approver` outlives this object.
  LoopErrands(Approver& approver, StartOutside start, std::shared_ptr<Inbox> inbox);
  // Destroys the tasks of all questions, and kills the commands.
  ~LoopErrands();
  LoopErrands(const LoopErrands&) = delete;
  LoopErrands& operator=(const LoopErrands&) = delete;

  void Ask(uint64_t call, Question question);
  void Withdraw(uint64_t call);
  void Start(uint64_t stub, OutsideOrder order);
  void Signal(uint64_t stub, int signal);
  void Kill(uint64_t stub);

 private:
  class Command;

  loop::Task<> Pursue(uint64_t call, Question question);
  void OnEnded(uint64_t stub, const Ending& ending);

  Approver& approver_;
  StartOutside start_;
  const std::shared_ptr<Inbox> inbox_;
  std::map<uint64_t, std::unique_ptr<Command>> commands_;
  // The scope of each question has one task. The questions are destroyed first, because their tasks use this object.
  std::map<uint64_t, std::unique_ptr<loop::Scope>> questions_;
};

class ErrandPost final : public Errands {
 public:
  // `loop` is used until Close.
  ErrandPost(loop::EventLoop& loop, std::weak_ptr<LoopErrands> errands) : loop_(loop), errands_(std::move(errands)) {}

  void Ask(uint64_t call, Question question) override;
  void Withdraw(uint64_t call) override;
  void Start(uint64_t stub, OutsideOrder order) override;
  void Signal(uint64_t stub, int signal) override;
  void Kill(uint64_t stub) override;

  // From here on errands are dropped. The loop's thread calls it, while the supervisor's thread may go on.
  void Close();

 private:
  template <typename Errand>
  void Post(Errand errand);

  loop::EventLoop& loop_;
  std::weak_ptr<LoopErrands> errands_;
  Mutex mutex_;
  bool is_closed_ GUARDED_BY(mutex_) = false;
};

}  // namespace holdfast::escalate
