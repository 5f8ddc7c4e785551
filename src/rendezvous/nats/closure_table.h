// The objects of one type that callbacks of the NATS library are for. The library may call once more after a
// subscription or a connection was destroyed, so that a closure is a number and not a pointer: the number of an object
// that is gone leads nowhere.
#pragma once

#include <cstdint>
#include <memory>
#include <unordered_map>
#include <utility>

#include "base/mutex.h"

namespace holdfast::rendezvous {

template <typename T>
class ClosureTable {
 public:
  // The table of the program. It is never destroyed, because threads of the library run until the program has ended.
  static ClosureTable& Get() {
    static ClosureTable& table = *new ClosureTable;
    return table;
  }

  void* Add(std::weak_ptr<T> object) {
    const MutexLock lock(mutex_);
    objects_.emplace(++last_number_, std::move(object));
    return reinterpret_cast<void*>(last_number_);  // NOLINT(performance-no-int-to-ptr): nothing dereferences it
  }
  void Remove(void* closure) {
    const MutexLock lock(mutex_);
    objects_.erase(reinterpret_cast<uintptr_t>(closure));
  }
  // Returns null if the object is gone.
  std::shared_ptr<T> Find(void* closure) {
    const MutexLock lock(mutex_);
    const auto found = objects_.find(reinterpret_cast<uintptr_t>(closure));
    return found == objects_.end() ? nullptr : found->second.lock();
  }

 private:
  ClosureTable() = default;

  Mutex mutex_;
  uintptr_t last_number_ GUARDED_BY(mutex_) = 0;
  std::unordered_map<uintptr_t, std::weak_ptr<T>> objects_ GUARDED_BY(mutex_);
};

}  // namespace holdfast::rendezvous
