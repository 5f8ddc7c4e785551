#include "loop/permit.h"

#include <utility>

#include "base/mutex.h"

namespace holdfast::loop {

// The state that a Permits object shares with every permit it has issued.
struct Permit::Source {
  explicit Source(Permits::OnReturn returned) : on_return(std::move(returned)) {}

  void OnReturned(uint64_t id) {
    if (is_open) on_return(id);
  }

  // Only the loop's thread uses these two members.
  Permits::OnReturn on_return;
  bool is_open = true;

  bool of_any_thread = false;
  Mutex mutex;
  EventLoop* loop GUARDED_BY(mutex) = nullptr;  // null once the loop may be destroyed
};

Permit& Permit::operator=(Permit&& other) noexcept {
  if (this == &other) return *this;
  Return();
  source_ = std::move(other.source_);
  id_ = other.id_;
  return *this;
}

void Permit::Return() {
  const auto source = std::move(source_);
  if (source == nullptr) return;
  if (!source->of_any_thread) return source->OnReturned(id_);
  const MutexLock lock(source->mutex);
  if (source->loop != nullptr) source->loop->Post([source, id = id_] { source->OnReturned(id); });
}

Permits::Permits(OnReturn on_return) : source_(std::make_shared<Permit::Source>(std::move(on_return))) {}

Permits::Permits(EventLoop& loop, OnReturn on_return) : Permits(std::move(on_return)) {
  source_->of_any_thread = true;
  const MutexLock lock(source_->mutex);
  source_->loop = &loop;
}

Permits::~Permits() {
  source_->is_open = false;
  const MutexLock lock(source_->mutex);
  source_->loop = nullptr;
}

Permit Permits::Issue(uint64_t id) { return {source_, id}; }

}  // namespace holdfast::loop
