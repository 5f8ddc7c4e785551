// An inbox has the messages of one subscription on their way from a thread of the NATS library to the loop. It is
// bounded: a message that does not fit is dropped, and the inbox is overrun.
#pragma once

#include <cstddef>
#include <memory>
#include <string_view>
#include <vector>

#include "base/mutex.h"
#include "loop/event_loop.h"
#include "rendezvous/nats/doorbell.h"
#include "rendezvous/nats/nats_library.h"

namespace holdfast::rendezvous {

// A message as the library has received it.
class NatsMessage {
 public:
  NatsMessage(const NatsLibrary& library, natsMsg* message)
      : library_(&library), message_(message, library.message_destroy) {}

  std::string_view bytes() const {
    return {library_->message_data(message_.get()), static_cast<size_t>(library_->message_length(message_.get()))};
  }
  // Returns whether the server says that nothing subscribes to the subject of a request.
  bool is_no_responders() const { return library_->is_no_responders(message_.get()); }

 private:
  const NatsLibrary* library_;
  std::unique_ptr<natsMsg, decltype(&::natsMsg_Destroy)> message_;
};

class NatsInbox {
 public:
  // The messages in an inbox may cost `limit` together. `on_messages` runs on the loop when there are some.
  static std::shared_ptr<NatsInbox> Make(loop::EventLoop& loop, size_t limit, loop::Callback on_messages);
  ~NatsInbox();
  NatsInbox(const NatsInbox&) = delete;
  NatsInbox& operator=(const NatsInbox&) = delete;

  // The name of the inbox for the library (closure_table.h).
  void* closure() const { return closure_; }
  static void Deliver(void* closure, NatsMessage message);  // any thread

  // These functions are called on the loop. After Close, `on_messages` does not run.
  std::vector<NatsMessage> TakeAll();
  bool overrun();
  void Close() { bell_->Silence(); }

  size_t limit() const { return limit_; }

 private:
  NatsInbox(loop::EventLoop& loop, size_t limit, loop::Callback on_messages);
  void Add(NatsMessage message);

  const size_t limit_;
  void* closure_ = nullptr;
  const std::shared_ptr<Doorbell> bell_;
  Mutex mutex_;
  std::vector<NatsMessage> messages_ GUARDED_BY(mutex_);
  size_t cost_ GUARDED_BY(mutex_) = 0;
  bool overrun_ GUARDED_BY(mutex_) = false;
};

}  // namespace holdfast::rendezvous
