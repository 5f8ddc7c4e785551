#include "escalate/seccomp/loop_errands.h"

#include <utility>

#include "sys/exit_codes.h"

namespace holdfast::escalate {

class LoopErrands::Command final : public OutsideObserver {
 public:
  Command(LoopErrands& owner, uint64_t stub) : owner_(owner), stub_(stub) {}

  Result<> Start(const StartOutside& start, OutsideOrder order) {
    TRY(command_, start(std::move(order), *this));
    return {};
  }
  void Signal(int signal) { command_->Signal(signal); }

  void OnStopped(int signal, unsigned continue_count) override {
    owner_.inbox_->Put(CommandStopped{.stub = stub_, .signal = signal, .continue_count = continue_count});
  }
  void OnEnded(const Ending& ending) override { owner_.OnEnded(stub_, ending); }

 private:
  LoopErrands& owner_;
  const uint64_t stub_;
  std::unique_ptr<OutsideCommand> command_;
};

LoopErrands::LoopErrands(Approver& approver, StartOutside start, std::shared_ptr<Inbox> inbox)
    : approver_(approver), start_(std::move(start)), inbox_(std::move(inbox)) {}

LoopErrands::~LoopErrands() = default;

// The task may end at once, and then erases its own scope.
void LoopErrands::Ask(uint64_t call, Question question) {
  auto& scope = *questions_.emplace(call, std::make_unique<loop::Scope>()).first->second;
  scope.Start(Pursue(call, std::move(question)));
}

void LoopErrands::Withdraw(uint64_t call) { questions_.erase(call); }

loop::Task<> LoopErrands::Pursue(uint64_t call, Question question) {
  Answer answer = co_await approver_.Ask(std::move(question));
  inbox_->Put(Answered{.call = call, .answer = std::move(answer)});
  questions_.erase(call);
}

void LoopErrands::Start(uint64_t stub, OutsideOrder order) {
  auto& command = *commands_.emplace(stub, std::make_unique<Command>(*this, stub)).first->second;
  const auto started = command.Start(start_, std::move(order));
  if (!started) OnEnded(stub, {.exit_code = sys::kCannotExecute, .reason = started.error().message});
}

void LoopErrands::Signal(uint64_t stub, int signal) {
  if (const auto command = commands_.find(stub); command != commands_.end()) command->second->Signal(signal);
}

void LoopErrands::Kill(uint64_t stub) { commands_.erase(stub); }

void LoopErrands::OnEnded(uint64_t stub, const Ending& ending) {
  inbox_->Put(CommandEnded{.stub = stub, .ending = ending});
  commands_.erase(stub);
}

// The errand is dropped if the supervision has ended meanwhile.
template <typename Errand>
void ErrandPost::Post(Errand errand) {
  const MutexLock lock(mutex_);
  if (is_closed_) return;
  loop_.Post([errands = errands_, errand = std::move(errand)] mutable {
    if (const auto owner = errands.lock()) errand(*owner);
  });
}

void ErrandPost::Close() {
  const MutexLock lock(mutex_);
  is_closed_ = true;
}

void ErrandPost::Ask(uint64_t call, Question question) {
  Post([call, question = std::move(question)](LoopErrands& owner) mutable { owner.Ask(call, std::move(question)); });
}

void ErrandPost::Withdraw(uint64_t call) {
  Post([call](LoopErrands& owner) { owner.Withdraw(call); });
}

void ErrandPost::Start(uint64_t stub, OutsideOrder order) {
  Post([stub, order = std::move(order)](LoopErrands& owner) mutable { owner.Start(stub, std::move(order)); });
}

void ErrandPost::Signal(uint64_t stub, int signal) {
  Post([stub, signal](LoopErrands& owner) { owner.Signal(stub, signal); });
}

void ErrandPost::Kill(uint64_t stub) {
  Post([stub](LoopErrands& owner) { owner.Kill(stub); });
}

}  // namespace holdfast::escalate
