#include "loop/worker_pool.h"

#include <pthread.h>

#include <algorithm>
#include <csignal>
#include <deque>
#include <list>
#include <optional>
#include <utility>
#include <vector>

#include "base/check.h"
#include "base/mutex.h"

namespace holdfast::loop {
namespace {

using Clock = std::chrono::steady_clock;

constexpr size_t kStackBytes = 512u << 10;
constexpr size_t kMaxNameBytes = 15;  // the kernel's limit

thread_local bool is_worker = false;

struct Job {
  Callback work, done;
};

enum class Phase { kOpen, kClosing, kGone };

// Those of the program are for the loop's thread. A fault stays with the thread that commits it: a blocked one would
// end the program without a word from a sanitizer.
sigset_t SignalsToBlock() {
  sigset_t signals;
  ::sigfillset(&signals);
  for (int fault : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGABRT}) ::sigdelset(&signals, fault);
  return signals;
}

// Detached, and with signals blocked from its first moment.
bool StartThread(void* (*main)(void*), void* argument) {
  pthread_attr_t attributes;
  CHECK(::pthread_attr_init(&attributes) == 0);
  CHECK(::pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED) == 0);
  CHECK(::pthread_attr_setstacksize(&attributes, kStackBytes) == 0);
  const sigset_t signals = SignalsToBlock();
  sigset_t before;
  ::pthread_sigmask(SIG_BLOCK, &signals, &before);
  pthread_t thread;
  const bool started = ::pthread_create(&thread, &attributes, main, argument) == 0;
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  ::pthread_attr_destroy(&attributes);
  return started;
}

}  // namespace

// A job is in exactly one place: `waiting`, the frame of its worker, `finished`, or the frame of Deliver.
struct WorkerPool::State : std::enable_shared_from_this<State> {
  State(WorkerPool& p, EventLoop& l, Options o) : pool(p), loop(l), options(std::move(o)) {}

  bool AddWorker() REQUIRES(mutex);
  bool IsShort() const REQUIRES(mutex) { return waiting.size() > idle; }
  size_t Width() const REQUIRES(mutex);
  std::chrono::milliseconds UntilWider() const REQUIRES(mutex);
  std::list<Clock::time_point>::const_iterator FirstFast(Clock::time_point now) const REQUIRES(mutex);
  void Deliver();

  // What a worker does.
  static void* Main(void* state);
  void Work();
  std::optional<Job> Take() REQUIRES(mutex);
  void GiveBack(Job job) REQUIRES(mutex);

  WorkerPool& pool;  // may be gone when `is_open` is false
  EventLoop& loop;   // may be gone when the pool is
  const Options options;
  bool is_open = true;  // until the pool is destroyed; only the loop's thread uses it

  Mutex mutex;
  Condition wake;
  Phase phase GUARDED_BY(mutex) = Phase::kOpen;
  std::deque<Job> waiting GUARDED_BY(mutex);
  std::list<Clock::time_point> running GUARDED_BY(mutex);  // since when; the longest first
  std::vector<Job> finished GUARDED_BY(mutex);             // while there are any, Deliver is on its way
  size_t workers GUARDED_BY(mutex) = 0;
  size_t idle GUARDED_BY(mutex) = 0;     // look for a job before they sleep or end: also those that start or post
  size_t posting GUARDED_BY(mutex) = 0;  // workers inside loop.Post
};

// The mutex is free meanwhile: a thread takes some time to make, and begins by locking it.
bool WorkerPool::State::AddWorker() {
  ++workers;
  ++idle;
  {
    const MutexUnlock unlock(mutex);
    auto self = std::make_unique<std::shared_ptr<State>>(shared_from_this());
    if (StartThread(&State::Main, self.get())) {
      (void)self.release();  // Main's
      return true;
    }
  }
  --workers;
  --idle;
  return false;
}

std::list<Clock::time_point>::const_iterator WorkerPool::State::FirstFast(Clock::time_point now) const {
  return std::ranges::find_if(running, [&](Clock::time_point start) { return now - start < options.patience; });
}

// How many workers there may be.
size_t WorkerPool::State::Width() const {
  const auto slow = std::distance(running.begin(), FirstFast(Clock::now()));
  return std::min(options.usual_workers + static_cast<size_t>(slow), options.max_workers);
}

// When one more may, or, after a thread that could not be made, the next attempt is due.
std::chrono::milliseconds WorkerPool::State::UntilWider() const {
  const Clock::time_point now = Clock::now();
  const auto fast = FirstFast(now);
  if (fast == running.end()) return options.patience;
  return std::chrono::ceil<std::chrono::milliseconds>(*fast + options.patience - now);
}

void* WorkerPool::State::Main(void* state) {
  is_worker = true;
  const std::unique_ptr<std::shared_ptr<State>> self(static_cast<std::shared_ptr<State>*>(state));
  (void)::pthread_setname_np(::pthread_self(), (*self)->options.name.c_str());  // only whoever looks would miss it
  (*self)->Work();
  return nullptr;
}

void WorkerPool::State::Work() {
  const MutexLock lock(mutex);
  while (std::optional<Job> job = Take()) {
    const auto self = running.insert(running.end(), Clock::now());
    {
      const MutexUnlock unlock(mutex);
      job->work();
    }
    running.erase(self);
    ++idle;
    GiveBack(*std::move(job));
  }
  --workers;
  if (phase != Phase::kOpen) wake.NotifyAll();
}

// Nothing when the worker is to end: after its idle time, when the pool closes, or when enough others are idle.
std::optional<Job> WorkerPool::State::Take() {
  const auto is_called = [this] REQUIRES(mutex) { return phase != Phase::kOpen || !waiting.empty(); };
  if (idle <= options.usual_workers) wake.WaitFor(mutex, options.idle_time, is_called);
  --idle;
  if (phase != Phase::kOpen || waiting.empty()) return std::nullopt;
  Job job = std::move(waiting.front());
  waiting.pop_front();
  return job;
}

// Posts without the mutex: the loop's thread, woken by it, would only run into it.
void WorkerPool::State::GiveBack(Job job) {
  if (phase == Phase::kGone) {
    const MutexUnlock unlock(mutex);
    job = {};
    return;
  }
  finished.push_back(std::move(job));
  if (finished.size() > 1 || phase != Phase::kOpen) return;
  ++posting;
  {
    const MutexUnlock unlock(mutex);
    loop.Post([self = shared_from_this()] { self->Deliver(); });
  }
  --posting;
}

// Any `done` may destroy the pool.
void WorkerPool::State::Deliver() {
  std::vector<Job> batch;
  {
    const MutexLock lock(mutex);
    batch.swap(finished);
  }
  for (Job& ended : batch) {
    if (!is_open) return;
    Job job = std::move(ended);
    job.done();
  }
}

WorkerPool::WorkerPool(EventLoop& loop, Options options)
    : state_(std::make_shared<State>(*this, loop, std::move(options))), widen_timer_(loop, [this] { Widen(); }) {
  CHECK(state_->options.name.size() <= kMaxNameBytes);
  CHECK(state_->options.usual_workers >= 1);
}

// What the jobs own is destroyed without the mutex.
WorkerPool::~WorkerPool() {
  State& state = *state_;
  std::deque<Job> dropped;
  std::vector<Job> ended;
  state.is_open = false;
  const MutexLock lock(state.mutex);
  state.phase = Phase::kClosing;
  state.wake.NotifyAll();
  state.wake.WaitFor(state.mutex, state.options.last_wait, [&] REQUIRES(state.mutex) { return state.workers == 0; });
  state.phase = Phase::kGone;
  state.wake.Wait(state.mutex, [&] REQUIRES(state.mutex) { return state.posting == 0; });
  dropped.swap(state.waiting);
  ended.swap(state.finished);
}

void WorkerPool::Run(Callback work, Callback done) {
  State& state = *state_;
  if (!state.is_open) return;  // asked by something that the destructor destroys
  bool is_short;
  {
    const MutexLock lock(state.mutex);
    state.waiting.push_back({std::move(work), std::move(done)});
    is_short = state.IsShort();
  }
  state.wake.NotifyOne();
  if (is_short) Widen();
}

// Without a pool the caller destroys it, as it does what the jobs of a pool own.
void WorkerPool::DestroyOnWorker(State& state, Callback destroy) {
  if (is_worker || !state.is_open) return destroy();
  state.pool.Run(std::move(destroy), [] {});
}

void WorkerPool::Widen() {
  State& state = *state_;
  const MutexLock lock(state.mutex);
  const size_t width = state.Width();
  while (state.IsShort() && state.workers < width && state.AddWorker()) continue;
  if (!state.IsShort() || state.workers >= state.options.max_workers || widen_timer_.running()) return;
  widen_timer_.Start(state.UntilWider());
}

size_t WorkerPool::workers() const {
  const MutexLock lock(state_->mutex);
  return state_->workers;
}

}  // namespace holdfast::loop
