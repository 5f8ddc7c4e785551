#include "loop/byte_budget.h"

#include <algorithm>
#include <list>
#include <utility>
#include <vector>

#include <fmt/format.h>

namespace holdfast::loop {
namespace {

using Clock = std::chrono::steady_clock;

}  // namespace

// The state of one permit, which the permit owns and the budget knows.
struct ByteBudget::Holder : LeavesItsList {
  Holder(State& budget, Callback reclaim);
  ~Holder();
  Holder(const Holder&) = delete;
  Holder& operator=(const Holder&) = delete;

  using Place = std::list<Holder*>::iterator;

  void ForgetWish();

  State* state;  // null once the budget is destroyed
  Callback on_reclaim;
  bool reclaimed = false;

  size_t bytes = 0;
  Clock::time_point since;  // the time at which `bytes` last rose from zero
  Place among_holders;      // valid while `bytes` is not zero

  // The wish of a permit that waits for room. The members are valid while `granted` is set.
  Granted granted;
  size_t wanted = 0;  // in all, with the bytes that are held already
  Clock::time_point waiting_since;
  Place among_waiting;
  Growth* growth = nullptr;  // the awaitable of the task that waits for the wish, if a task does
};

// The state of the budget. A callback may destroy the budget, so the functions that run callbacks keep the state alive
// until they return.
struct ByteBudget::State : std::enable_shared_from_this<State> {
  State(EventLoop& its_loop, const Options& chosen)
      : loop(its_loop), options(chosen), timer(its_loop, [this] { OnTick(); }) {}

  bool Fits(size_t more) const { return held <= options.bytes && more <= options.bytes - held; }

  void Hold(Holder& holder, size_t bytes) {
    const size_t before = std::exchange(holder.bytes, bytes);
    held = held - before + bytes;
    if (before == 0 && bytes > 0) {
      holder.since = Clock::now();
      holder.among_holders = holders.insert(holders.end(), &holder);
    } else if (before > 0 && bytes == 0) {
      holders.erase(holder.among_holders);
    }
    if (bytes < before) Serve();
  }

  void Wait(Holder& holder, size_t bytes, Granted granted) {
    holder.wanted = bytes;
    holder.granted = std::move(granted);
    holder.waiting_since = Clock::now();
    holder.among_waiting = waiting.insert(waiting.end(), &holder);
    if (!timer.running()) timer.Start(options.tick);
  }

  Granted StopWaiting(Holder& holder) {
    waiting.erase(holder.among_waiting);
    return std::exchange(holder.granted, nullptr);
  }

  // Returns the first permit, in the order in which they came, whose wish fits, or null. A fresh permit, which holds
  // nothing yet, keeps later fresh ones waiting while its wish does not fit, so that wishes for little do not pass a
  // wish for much for ever. It does not keep permits waiting that already hold bytes, because each of these gives
  // everything back once it has what it needs.
  Holder* Servable() const {
    bool fresh_waits = false;
    for (Holder* holder : waiting) {
      const bool is_fresh = holder->bytes == 0;
      if (is_fresh && std::exchange(fresh_waits, true)) continue;
      if (Fits(holder->wanted - holder->bytes)) return holder;
    }
    return nullptr;
  }

  // Grants all wishes that fit. A callback may give its permit back at once, which calls this function again; the inner
  // call returns, and the outermost call does the work.
  void Serve() {
    if (waiting.empty() || std::exchange(serving, true)) return;
    const auto self = shared_from_this();
    while (Holder* holder = Servable()) {
      Granted granted = StopWaiting(*holder);
      Hold(*holder, holder->wanted);
      granted({});
    }
    serving = false;
  }

  void OnTick() {
    const auto self = shared_from_this();
    RefuseLate();
    ReclaimForWaiting();
    if (!waiting.empty()) timer.Start(options.tick);
  }

  void RefuseLate() {
    const auto limit = Clock::now() - options.patience;
    while (!waiting.empty() && waiting.front()->waiting_since <= limit) {
      Granted granted = StopWaiting(*waiting.front());
      granted(Fail(ErrorKind::kLimit,
                   "the server already holds as many bytes as it may (max_held_bytes); try again later"));
    }
  }

  // Asks the largest holders to give up their bytes, until there would be room for all permits that wait. Bytes that
  // were reclaimed earlier and are still held count as room that will come.
  void ReclaimForWaiting() {
    while (Coming() < Needed()) {
      Holder* largest = LargestReclaimable();
      if (largest == nullptr) return;
      largest->reclaimed = true;
      const Granted no_longer_wanted = largest->granted ? StopWaiting(*largest) : nullptr;
      Callback reclaim = std::exchange(largest->on_reclaim, nullptr);  // the call may destroy the holder
      reclaim();
    }
  }

  size_t Needed() const {
    size_t needed = 0;
    for (const Holder* holder : waiting) needed += holder->wanted - holder->bytes;
    return needed;
  }

  size_t Coming() const {
    size_t coming = held < options.bytes ? options.bytes - held : 0;
    for (const Holder* holder : holders) coming += holder->reclaimed ? holder->bytes : 0;
    return coming;
  }

  Holder* LargestReclaimable() const {
    const auto limit = Clock::now() - options.tenure;
    Holder* largest = nullptr;
    for (Holder* holder : holders) {
      if (!holder->on_reclaim || holder->since > limit) continue;
      if (largest == nullptr || holder->bytes > largest->bytes) largest = holder;
    }
    return largest;
  }

  EventLoop& loop;
  const Options options;
  ListOf<Holder> permits;
  size_t held = 0;
  std::list<Holder*> holders;  // the permits that hold at least one byte
  std::list<Holder*> waiting;  // the permits that wait for room, in the order in which they came
  bool serving = false;
  Timer timer;
};

ByteBudget::Holder::Holder(State& budget, Callback reclaim) : state(&budget), on_reclaim(std::move(reclaim)) {
  budget.permits.push_back(*this);
}

ByteBudget::Holder::~Holder() {
  if (growth != nullptr) growth->Abandon();
  if (state == nullptr) return;
  ForgetWish();
  state->Hold(*this, 0);
}

void ByteBudget::Holder::ForgetWish() {
  if (granted) (void)state->StopWaiting(*this);  // the permit, or the task that waits for it, is being destroyed
}

ByteBudget::ByteBudget(EventLoop& loop, const Options& options) : state_(std::make_shared<State>(loop, options)) {}

// The callbacks may own permits. They are destroyed last, when no permit refers to this budget any more.
ByteBudget::~ByteBudget() {
  std::vector<Granted> forgotten;
  for (Holder* holder : state_->waiting) forgotten.push_back(std::exchange(holder->granted, nullptr));
  state_->waiting.clear();
  state_->holders.clear();
  for (Holder& holder : state_->permits) holder.state = nullptr;
}

ByteBudget::Permit ByteBudget::Open(Callback on_reclaim) {
  return Permit(std::make_unique<Holder>(*state_, std::move(on_reclaim)));
}

Task<Result<ByteBudget::Permit>> ByteBudget::Take(size_t bytes) {
  Permit permit = Open();
  const Result<> room = co_await permit.Await(bytes);
  if (!room) co_return std::unexpected(room.error());
  co_return permit;
}

size_t ByteBudget::held() const { return state_->held; }

ByteBudget::Permit::Permit() = default;
ByteBudget::Permit::Permit(std::unique_ptr<Holder> holder) : holder_(std::move(holder)) {}
ByteBudget::Permit::Permit(Permit&&) noexcept = default;
ByteBudget::Permit& ByteBudget::Permit::operator=(Permit&&) noexcept = default;
ByteBudget::Permit::~Permit() = default;

size_t ByteBudget::Permit::bytes() const { return holder_ ? holder_->bytes : 0; }

ByteBudget::State* ByteBudget::Permit::budget() const { return holder_ ? holder_->state : nullptr; }

bool ByteBudget::Permit::TryResize(size_t bytes) {
  State* const state = budget();
  if (state == nullptr) return true;
  if (bytes > holder_->bytes) {
    if (!state->Fits(bytes - holder_->bytes)) return false;
    if (holder_->bytes == 0 && !state->waiting.empty()) return false;  // earlier permits are served first
  }
  state->Hold(*holder_, bytes);
  return true;
}

void ByteBudget::Permit::Resize(size_t bytes) {
  if (State* const state = budget()) state->Hold(*holder_, bytes);
}

// Returns the outcome of the wish, or nothing if the wish has to wait for room.
std::optional<Result<>> ByteBudget::Permit::ResizeOrRefuse(size_t bytes) {
  if (TryResize(bytes)) return Result<>();
  const size_t limit = holder_->state->options.bytes;  // the state exists: TryResize fails only with a budget
  if (bytes <= limit) return std::nullopt;
  return Fail(ErrorKind::kLimit,
              fmt::format("{} bytes are more than the server may hold ({}, max_held_bytes)", bytes, limit));
}

void ByteBudget::Permit::Await(size_t bytes, Granted granted) {
  if (const auto outcome = ResizeOrRefuse(bytes)) return granted(*outcome);
  holder_->state->Wait(*holder_, bytes, std::move(granted));
}

ByteBudget::Growth ByteBudget::Permit::Await(size_t bytes) { return {*this, bytes}; }

ByteBudget::Growth::Growth(Permit& permit, size_t bytes)
    : holder_(permit.holder_.get()), bytes_(bytes), outcome_(permit.ResizeOrRefuse(bytes)) {}

ByteBudget::Growth::~Growth() {
  if (holder_ == nullptr || holder_->growth != this) return;
  holder_->growth = nullptr;
  holder_->ForgetWish();
}

// A task that was granted room goes on in the next turn of the loop. Many clients may be gone at once, and each of them
// makes room for a task of another client that is gone as well. That task is destroyed in the same turn, before it does
// its work in vain.
void ByteBudget::Growth::await_suspend(TaskFrame frame) {
  frame_ = frame;
  holder_->growth = this;
  next_turn_.emplace(holder_->state->loop, [this] { frame_.Resume(); });
  holder_->state->Wait(*holder_, bytes_, [this](const Result<>& outcome) {
    outcome_ = outcome;
    next_turn_->Start(std::chrono::milliseconds(0));
  });
}

void ByteBudget::Growth::Abandon() {
  holder_ = nullptr;
  next_turn_.reset();
}

}  // namespace holdfast::loop
