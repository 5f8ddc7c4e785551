#include "rendezvous/nats/nats_inbox.h"

#include <utility>

#include "rendezvous/nats/closure_table.h"
#include "rendezvous/nats/pipe_flow.h"

namespace holdfast::rendezvous {

NatsInbox::NatsInbox(loop::EventLoop& loop, size_t limit, loop::Callback on_messages)
    : limit_(limit), bell_(std::make_shared<Doorbell>(loop, std::move(on_messages))) {}

std::shared_ptr<NatsInbox> NatsInbox::Make(loop::EventLoop& loop, size_t limit, loop::Callback on_messages) {
  std::shared_ptr<NatsInbox> inbox(new NatsInbox(loop, limit, std::move(on_messages)));
  inbox->closure_ = ClosureTable<NatsInbox>::Get().Add(inbox);
  return inbox;
}

NatsInbox::~NatsInbox() { ClosureTable<NatsInbox>::Get().Remove(closure_); }

void NatsInbox::Deliver(void* closure, NatsMessage message) {
  if (const auto inbox = ClosureTable<NatsInbox>::Get().Find(closure)) inbox->Add(std::move(message));
}

void NatsInbox::Add(NatsMessage message) {
  {
    const MutexLock lock(mutex_);
    const size_t cost = message.bytes().size() + kMessageCost;
    if (cost > limit_ - cost_) {
      overrun_ = true;
    } else {
      cost_ += cost;
      messages_.push_back(std::move(message));
    }
  }
  bell_->Ring();
}

std::vector<NatsMessage> NatsInbox::TakeAll() {
  const MutexLock lock(mutex_);
  cost_ = 0;
  return std::exchange(messages_, {});
}

bool NatsInbox::overrun() {
  const MutexLock lock(mutex_);
  return overrun_;
}

}  // namespace holdfast::rendezvous
