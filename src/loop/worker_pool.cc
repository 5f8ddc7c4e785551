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

// Returns the signals that workers block. Signals to the program are for the loop's thread. A fault is handled by the
// thread that commits it: with the signal blocked, the program would end without a message of a sanitizer.
sigset_t SignalsToBlock() {
  sigset_t signals;
  ::sigfillset(&signals);
  for (int fault : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGABRT}) ::sigdelset(&signals, fault);
  return signals;
}

// Starts a detached thread that has its signals blocked from its first moment.
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

// The state that the pool shares with its workers. At any moment a job is in exactly one place: in `waiting`, in the
// stack frame of its worker, in `finished`, or in the stack frame of Deliver.
struct WorkerPool::State : std::enable_shared_from_this<State> {
  State(WorkerPool& p, EventLoop& l, Options o) : pool(p), loop(l), options(std::move(o)) {}

  bool AddWorker() REQUIRES(mutex);
  bool HasTooFewWorkers() const REQUIRES(mutex) { return waiting.size() > idle; }
  size_t AllowedWorkers() const REQUIRES(mutex);
  std::chrono::milliseconds UntilNextWorker() const REQUIRES(mutex);
  std::list<Clock::time_point>::const_iterator FirstFast(Clock::time_point now) const REQUIRES(mutex);
  void Deliver();

  // The workers run these functions.
  static void* Main(void* state);
  void Work();
  std::optional<Job> Take() REQUIRES(mutex);
  void GiveBack(Job job) REQUIRES(mutex);

  WorkerPool& pool;  // may be destroyed once `is_open` is false
  EventLoop& loop;   // may be destroyed once the pool is
  const Options options;
  bool is_open = true;  // until the pool is destroyed; only the loop's thread uses it

  Mutex mutex;
  Condition wake;
  Phase phase GUARDED_BY(mutex) = Phase::kOpen;
  std::deque<Job> waiting GUARDED_BY(mutex);
  std::list<Clock::time_point> running GUARDED_BY(mutex);  // the start time of each running job, the oldest first
  std::vector<Job> finished GUARDED_BY(mutex);             // not empty only while a call of Deliver is queued
  size_t workers GUARDED_BY(mutex) = 0;
  // The workers that will look for a job before they sleep or end. Workers that are starting or posting belong to them.
  size_t idle GUARDED_BY(mutex) = 0;
  size_t posting GUARDED_BY(mutex) = 0;  // workers inside loop.Post
};

// The mutex is unlocked while the thread is made, because that takes some time, and the thread begins by locking it.
bool WorkerPool::State::AddWorker() {
  ++workers;
  ++idle;
  {
    const MutexUnlock unlock(mutex);
    auto self = std::make_unique<std::shared_ptr<State>>(shared_from_this());
    if (StartThread(&State::Main, self.get())) {
      (void)self.release();  // Main owns it
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

// Returns the number of workers that the pool may have at this moment.
size_t WorkerPool::State::AllowedWorkers() const {
  const auto slow = std::distance(running.begin(), FirstFast(Clock::now()));
  return std::min(options.usual_workers + static_cast<size_t>(slow), options.max_workers);
}

// Returns the time until the pool may have one more worker or, if a thread could not be made, until the next attempt.
std::chrono::milliseconds WorkerPool::State::UntilNextWorker() const {
  const Clock::time_point now = Clock::now();
  const auto fast = FirstFast(now);
  if (fast == running.end()) return options.patience;
  return std::chrono::ceil<std::chrono::milliseconds>(*fast + options.patience - now);
}

void* WorkerPool::State::Main(void* state) {
  is_worker = true;
  const std::unique_ptr<std::shared_ptr<State>> self(static_cast<std::shared_ptr<State>*>(state));
  (void)::pthread_setname_np(::pthread_self(), (*self)->options.name.c_str());  // the name only helps debugging
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

// Returns the next job, or nothing if the worker has to end: after its idle time, when the pool closes, or when enough
// other workers are idle.
std::optional<Job> WorkerPool::State::Take() {
  const auto is_called = [this] REQUIRES(mutex) { return phase != Phase::kOpen || !waiting.empty(); };
  if (idle <= options.usual_workers) wake.WaitFor(mutex, options.idle_time, is_called);
  --idle;
  if (phase != Phase::kOpen || waiting.empty()) return std::nullopt;
  Job job = std::move(waiting.front());
  waiting.pop_front();
  return job;
}

// The mutex is unlocked during the post, because the post wakes the loop's thread, which would then wait for the mutex.
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

// Runs the callbacks of the finished jobs, on the loop. Any `done` may destroy the pool.
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

// The jobs are declared before the lock, so that the objects which they own are destroyed without the mutex.
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
  if (!state.is_open) return;  // the caller is an object that the destructor of the pool destroys
  bool has_too_few_workers;
  {
    const MutexLock lock(state.mutex);
    state.waiting.push_back({std::move(work), std::move(done)});
    has_too_few_workers = state.HasTooFewWorkers();
  }
  state.wake.NotifyOne();
  if (has_too_few_workers) Widen();
}

// Without a pool the caller destroys it, as it does what the jobs of a pool own.
void WorkerPool::DestroyOnWorker(State& state, Callback destroy) {
  if (is_worker || !state.is_open) return destroy();
  state.pool.Run(std::move(destroy), [] {});
}

void WorkerPool::Widen() {
  State& state = *state_;
  const MutexLock lock(state.mutex);
  const size_t allowed = state.AllowedWorkers();
  while (state.HasTooFewWorkers() && state.workers < allowed && state.AddWorker()) continue;
  if (!state.HasTooFewWorkers() || state.workers >= state.options.max_workers || widen_timer_.running()) return;
  widen_timer_.Start(state.UntilNextWorker());
}

size_t WorkerPool::workers() const {
  const MutexLock lock(state_->mutex);
  return state_->workers;
}

}  // namespace holdfast::loop
