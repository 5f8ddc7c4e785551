#include "loop/permit.h"

#include <utility>

#include "base/mutex.h"

namespace holdfast::loop {

// Each permit shares it.
struct Permit::Source {
  explicit Source(Permits::OnReturn returned) : on_return(std::move(returned)) {}

  void OnReturned(uint64_t id) {
    if (is_open) on_return(id);
  }

  // The loop's thread alone uses these.
  Permits::OnReturn on_return;
  bool is_open = true;

  bool of_any_thread = false;
  Mutex mutex;
  EventLoop* loop GUARDED_BY(mutex) = nullptr;  // null when the loop may be gone
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
