#include "loop/worker_pool.h"

#include <pthread.h>

#include <algorithm>
#include <condition_variable>
#include <csignal>
#include <deque>
#include <list>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include "base/check.h"

namespace holdfast::loop {
namespace {

using Clock = std::chrono::steady_clock;

constexpr size_t kStackBytes = 512u << 10;
constexpr size_t kMaxNameBytes = 15;  // the kernel's limit

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
  State(EventLoop& l, Options o) : loop(l), options(std::move(o)) {}

  bool AddWorker(std::unique_lock<std::mutex>& lock);
  bool IsShort() const { return waiting.size() > idle; }
  size_t Width() const;
  std::chrono::milliseconds UntilWider() const;
  std::list<Clock::time_point>::const_iterator FirstFast(Clock::time_point now) const;
  void Deliver();

  // What a worker does.
  static void* Main(void* state);
  void Work();
  std::optional<Job> Take(std::unique_lock<std::mutex>& lock);
  void GiveBack(Job job, std::unique_lock<std::mutex>& lock);

  EventLoop& loop;  // may be gone when the pool is
  const Options options;

  std::mutex mutex;  // of all that follows; `phase` changes on the loop's thread only, which may read it without
  std::condition_variable wake;
  Phase phase = Phase::kOpen;
  std::deque<Job> waiting;
  std::list<Clock::time_point> running;  // since when; the longest first
  std::vector<Job> finished;             // while there are any, Deliver is on its way
  size_t workers = 0;
  size_t idle = 0;     // workers that look for a job before they sleep or end: also those that start or post
  size_t posting = 0;  // workers inside loop.Post
};

// The mutex is free meanwhile: a thread takes some time to make, and begins by locking it.
bool WorkerPool::State::AddWorker(std::unique_lock<std::mutex>& lock) {
  ++workers;
  ++idle;
  lock.unlock();
  auto self = std::make_unique<std::shared_ptr<State>>(shared_from_this());
  const bool started = StartThread(&State::Main, self.get());
  if (started) (void)self.release();  // Main's
  lock.lock();
  if (started) return true;
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
  const std::unique_ptr<std::shared_ptr<State>> self(static_cast<std::shared_ptr<State>*>(state));
  (void)::pthread_setname_np(::pthread_self(), (*self)->options.name.c_str());  // only whoever looks would miss it
  (*self)->Work();
  return nullptr;
}

void WorkerPool::State::Work() {
  std::unique_lock lock(mutex);
  while (std::optional<Job> job = Take(lock)) {
    const auto self = running.insert(running.end(), Clock::now());
    lock.unlock();
    job->work();
    lock.lock();
    running.erase(self);
    ++idle;
    GiveBack(*std::move(job), lock);
  }
  --workers;
  if (phase != Phase::kOpen) wake.notify_all();
}

// Nothing when the worker is to end: after its idle time, when the pool closes, or when enough others are idle.
std::optional<Job> WorkerPool::State::Take(std::unique_lock<std::mutex>& lock) {
  const auto is_called = [this] { return phase != Phase::kOpen || !waiting.empty(); };
  if (idle <= options.usual_workers) wake.wait_for(lock, options.idle_time, is_called);
  --idle;
  if (phase != Phase::kOpen || waiting.empty()) return std::nullopt;
  Job job = std::move(waiting.front());
  waiting.pop_front();
  return job;
}

// Posts without the mutex: the loop's thread, woken by it, would only run into it.
void WorkerPool::State::GiveBack(Job job, std::unique_lock<std::mutex>& lock) {
  if (phase == Phase::kGone) {
    lock.unlock();
    job = {};
    return lock.lock();
  }
  finished.push_back(std::move(job));
  if (finished.size() > 1 || phase != Phase::kOpen) return;
  ++posting;
  lock.unlock();
  loop.Post([self = shared_from_this()] { self->Deliver(); });
  lock.lock();
  --posting;
}

// Any `done` may destroy the pool.
void WorkerPool::State::Deliver() {
  std::vector<Job> batch;
  {
    const std::lock_guard lock(mutex);
    batch.swap(finished);
  }
  for (Job& ended : batch) {
    if (phase != Phase::kOpen) return;
    Job job = std::move(ended);
    job.done();
  }
}

WorkerPool::WorkerPool(EventLoop& loop, Options options)
    : state_(std::make_shared<State>(loop, std::move(options))), widen_timer_(loop, [this] { Widen(); }) {
  CHECK(state_->options.name.size() <= kMaxNameBytes);
  CHECK(state_->options.usual_workers >= 1);
}

WorkerPool::~WorkerPool() {
  std::deque<Job> dropped;
  std::vector<Job> ended;
  std::unique_lock lock(state_->mutex);
  state_->phase = Phase::kClosing;
  state_->wake.notify_all();
  state_->wake.wait_for(lock, state_->options.last_wait, [this] { return state_->workers == 0; });
  state_->phase = Phase::kGone;
  state_->wake.wait(lock, [this] { return state_->posting == 0; });
  dropped.swap(state_->waiting);
  ended.swap(state_->finished);
  lock.unlock();  // what the jobs own is destroyed without it
}

void WorkerPool::Run(Callback work, Callback done) {
  if (state_->phase != Phase::kOpen) return;  // asked by something that the destructor destroys
  bool is_short;
  {
    const std::lock_guard lock(state_->mutex);
    state_->waiting.push_back({std::move(work), std::move(done)});
    is_short = state_->IsShort();
  }
  state_->wake.notify_one();
  if (is_short) Widen();
}

void WorkerPool::Widen() {
  std::unique_lock lock(state_->mutex);
  const size_t width = state_->Width();
  while (state_->IsShort() && state_->workers < width && state_->AddWorker(lock)) continue;
  if (!state_->IsShort() || state_->workers >= state_->options.max_workers || widen_timer_.running()) return;
  widen_timer_.Start(state_->UntilWider());
}

size_t WorkerPool::workers() const {
  const std::lock_guard lock(state_->mutex);
  return state_->workers;
}

}  // namespace holdfast::loop
