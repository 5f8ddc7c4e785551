#include "escalate/seccomp/inbox.h"

#include <sys/eventfd.h>

#include "sys/io.h"

namespace holdfast::escalate {

Result<std::unique_ptr<Inbox>> Inbox::Create() {
  OwnedFd event(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (!event.is_open()) return FailErrno("eventfd");
  return std::unique_ptr<Inbox>(new Inbox(std::move(event)));
}

void Inbox::Put(InboxMessage message) {
  {
    const MutexLock lock(mutex_);
    messages_.push_back(std::move(message));
  }
  Notify();
}

void Inbox::Close() {
  {
    const MutexLock lock(mutex_);
    closed_ = true;
  }
  Notify();
}

void Inbox::Notify() const {
  const uint64_t one = 1;
  (void)sys::Write(event_.get(), &one, sizeof one);  // fails only if the descriptor is readable already
}

std::optional<std::vector<InboxMessage>> Inbox::Take() {
  uint64_t count = 0;
  (void)sys::Read(event_.get(), &count, sizeof count);  // fails if there was nothing to read
  const MutexLock lock(mutex_);
  if (closed_) return std::nullopt;
  return std::exchange(messages_, {});
}

}  // namespace holdfast::escalate
