// Locks whose use the compiler checks (-Wthread-safety). A member that threads share names the mutex that guards it,
// and a function that may only be called with a mutex held names that mutex.
//
//   Mutex mutex;
//   size_t workers GUARDED_BY(mutex) = 0;
//   bool HasTooFewWorkers() const REQUIRES(mutex);
#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <utility>

#define GUARDED_BY(mutex) __attribute__((guarded_by(mutex)))
#define REQUIRES(mutex) __attribute__((requires_capability(mutex)))

namespace holdfast {

class __attribute__((capability("mutex"))) Mutex {
 public:
  Mutex() = default;
  Mutex(const Mutex&) = delete;
  Mutex& operator=(const Mutex&) = delete;

  void Lock() __attribute__((acquire_capability())) { mutex_.lock(); }
  void Unlock() __attribute__((release_capability())) { mutex_.unlock(); }

 private:
  friend class Condition;
  std::mutex mutex_;
};

// A MutexLock locks the mutex and holds it until it is destroyed.
class __attribute__((scoped_lockable)) MutexLock {
 public:
  explicit MutexLock(Mutex& mutex) __attribute__((acquire_capability(mutex))) : mutex_(mutex) { mutex_.Lock(); }
  ~MutexLock() __attribute__((release_capability())) { mutex_.Unlock(); }
  MutexLock(const MutexLock&) = delete;
  MutexLock& operator=(const MutexLock&) = delete;

 private:
  Mutex& mutex_;
};

// A MutexUnlock unlocks a mutex that the caller holds, and locks it again when it is destroyed.
class __attribute__((scoped_lockable)) MutexUnlock {
 public:
  explicit MutexUnlock(Mutex& mutex) __attribute__((release_capability(mutex))) : mutex_(mutex) { mutex_.Unlock(); }
  ~MutexUnlock() __attribute__((release_capability())) { mutex_.Lock(); }
  MutexUnlock(const MutexUnlock&) = delete;
  MutexUnlock& operator=(const MutexUnlock&) = delete;

 private:
  Mutex& mutex_;
};

// A condition lets threads wait for a change of members that a mutex guards. The argument `ready` says whether the
// wait is over; if it looks at guarded members, it is a lambda with REQUIRES.
class Condition {
 public:
  void NotifyOne() { condition_.notify_one(); }
  void NotifyAll() { condition_.notify_all(); }

  template <typename Ready>
  void Wait(Mutex& mutex, Ready ready) REQUIRES(mutex) {
    std::unique_lock lock(mutex.mutex_, std::adopt_lock);
    condition_.wait(lock, std::move(ready));
    lock.release();
  }

  // The wait ends when `ready` returns true or `patience` has passed.
  template <typename Ready>
  void WaitFor(Mutex& mutex, std::chrono::milliseconds patience, Ready ready) REQUIRES(mutex) {
    std::unique_lock lock(mutex.mutex_, std::adopt_lock);
    condition_.wait_for(lock, patience, std::move(ready));
    lock.release();
  }

 private:
  std::condition_variable condition_;
};

}  // namespace holdfast
