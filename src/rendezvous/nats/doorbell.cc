#include "rendezvous/nats/doorbell.h"

namespace holdfast::rendezvous {

// The mutex is held during the post, so that Silence waits for a post that is under way.
void Doorbell::Ring() {
  const MutexLock lock(mutex_);
  if (loop_ == nullptr || rung_) return;
  rung_ = true;
  loop_->Post([self = shared_from_this()] { self->Answer(); });
}

void Doorbell::Silence() {
  const MutexLock lock(mutex_);
  loop_ = nullptr;
}

void Doorbell::Answer() {
  {
    const MutexLock lock(mutex_);
    if (loop_ == nullptr) return;
    rung_ = false;
  }
  on_ring_();
}

}  // namespace holdfast::rendezvous
