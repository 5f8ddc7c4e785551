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

// What stands behind a permit.
struct ByteBudget::Holder {
  Holder(const std::shared_ptr<State>& budget, Callback reclaim) : state(budget), on_reclaim(std::move(reclaim)) {}
  ~Holder();
  Holder(const Holder&) = delete;
  Holder& operator=(const Holder&) = delete;

  using Place = std::list<Holder*>::iterator;

  std::weak_ptr<State> state;
  Callback on_reclaim;
  bool reclaimed = false;

  size_t bytes = 0;
  Clock::time_point since;  // when it began to hold anything
  Place among_holders;      // with bytes

  Granted granted;  // set while it waits
  size_t wanted = 0;
  Clock::time_point waiting_since;
  Place among_waiting;
};

struct ByteBudget::State {
  State(EventLoop& loop, const Options& chosen) : options(chosen), timer(loop, [this] { OnTick(); }) {}

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

  // In the order they came, with one difference: a fresh one that wants much keeps further fresh ones waiting, but not
  // the holders, because each of these gives all of it back once it has what it needs.
  Holder* Servable() const {
    bool fresh_waits = false;
    for (Holder* holder : waiting) {
      const bool is_fresh = holder->bytes == 0;
      if (is_fresh && std::exchange(fresh_waits, true)) continue;
      if (Fits(holder->wanted - holder->bytes)) return holder;
    }
    return nullptr;
  }

  // A callback may give its permit back at once, which ends up here again: the outermost call does the work.
  void Serve() {
    if (std::exchange(serving, true)) return;
    while (Holder* holder = Servable()) {
      Granted granted = StopWaiting(*holder);
      Hold(*holder, holder->wanted);
      granted({});
    }
    serving = false;
  }

  void OnTick() {
    RefuseLate();
    ReclaimForWaiting();
    if (!waiting.empty()) timer.Start(options.tick);
  }

  void RefuseLate() {
    const auto limit = Clock::now() - options.patience;
    while (!waiting.empty() && waiting.front()->waiting_since <= limit) {
      Granted granted = StopWaiting(*waiting.front());
      granted(Fail(ErrorKind::kLimit, "the server holds as many bytes for its clients as it may (max_held_bytes)"));
    }
  }

  // What was reclaimed earlier, and is still held, counts as on its way.
  void ReclaimForWaiting() {
    while (Coming() < Needed()) {
      Holder* largest = LargestReclaimable();
      if (largest == nullptr) return;
      largest->reclaimed = true;
      const Granted no_longer_wanted = largest->granted ? StopWaiting(*largest) : nullptr;
      Callback reclaim = std::exchange(largest->on_reclaim, nullptr);  // the holder may go with it
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

  const Options options;
  size_t held = 0;
  std::list<Holder*> holders;  // of more than nothing
  std::list<Holder*> waiting;  // in the order they came
  bool serving = false;
  Timer timer;
};

ByteBudget::Holder::~Holder() {
  const auto alive = state.lock();
  if (!alive) return;
  if (granted) (void)alive->StopWaiting(*this);  // its own wish
  alive->Hold(*this, 0);
}

ByteBudget::ByteBudget(EventLoop& loop, const Options& options) : state_(std::make_shared<State>(loop, options)) {}

// Callbacks own permits: they go when no state is left that these could find.
ByteBudget::~ByteBudget() {
  std::vector<Granted> forgotten;
  for (Holder* holder : state_->waiting) forgotten.push_back(std::move(holder->granted));
  state_.reset();
}

ByteBudget::Permit ByteBudget::Open(Callback on_reclaim) {
  return Permit(std::make_unique<Holder>(state_, std::move(on_reclaim)));
}

size_t ByteBudget::held() const { return state_->held; }

ByteBudget::Permit::Permit() = default;
ByteBudget::Permit::Permit(std::unique_ptr<Holder> holder) : holder_(std::move(holder)) {}
ByteBudget::Permit::Permit(Permit&&) noexcept = default;
ByteBudget::Permit& ByteBudget::Permit::operator=(Permit&&) noexcept = default;
ByteBudget::Permit::~Permit() = default;

size_t ByteBudget::Permit::bytes() const { return holder_ ? holder_->bytes : 0; }

bool ByteBudget::Permit::TryResize(size_t bytes) {
  const auto state = holder_ ? holder_->state.lock() : nullptr;
  if (!state) return true;
  if (bytes > holder_->bytes) {
    if (!state->Fits(bytes - holder_->bytes)) return false;
    if (holder_->bytes == 0 && !state->waiting.empty()) return false;  // others were here before
  }
  state->Hold(*holder_, bytes);
  return true;
}

void ByteBudget::Permit::Resize(size_t bytes) {
  if (const auto state = holder_ ? holder_->state.lock() : nullptr) state->Hold(*holder_, bytes);
}

void ByteBudget::Permit::Await(size_t bytes, Granted granted) {
  if (TryResize(bytes)) return granted({});
  const auto state = holder_->state.lock();  // it was there: nothing else refuses
  if (bytes <= state->options.bytes) return state->Wait(*holder_, bytes, std::move(granted));
  granted(Fail(ErrorKind::kLimit, fmt::format("{} bytes are more than the server may hold ({}, max_held_bytes)", bytes,
                                              state->options.bytes)));
}

}  // namespace holdfast::loop
