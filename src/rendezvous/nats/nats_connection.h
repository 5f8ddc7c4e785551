// One connection to a NATS server, which is not restored after its end: what was under way on it is lost, and the bus
// makes another. All functions may block and are called on workers, from any number of them at a time.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"
#include "rendezvous/nats/doorbell.h"
#include "rendezvous/nats/nats_inbox.h"
#include "rendezvous/nats/nats_library.h"

namespace holdfast::rendezvous {

// A subscription ends when it is destroyed, on a worker.
using NatsSubscription = std::unique_ptr<natsSubscription, decltype(&::natsSubscription_Destroy)>;

class NatsConnection {
 public:
  struct Options {
    std::string url;  // of one server: nats://HOST:PORT or tls://HOST:PORT
    std::string credentials_file{};
    std::string name;  // as the server shows it
  };

  // Connects, in five seconds at most. `on_closed` rings when the connection has ended.
  static Result<std::shared_ptr<NatsConnection>> Connect(const NatsLibrary& library, const Options& options,
                                                         const std::shared_ptr<Doorbell>& on_closed);
  ~NatsConnection();
  NatsConnection(const NatsConnection&) = delete;
  NatsConnection& operator=(const NatsConnection&) = delete;

  // Sends a message. With a `reply` the server answers there if nothing subscribes to the subject.
  Result<> Publish(const std::string& subject, const std::string& reply, std::string_view bytes);

  // Passes the messages of a subject to the inbox. Of the subscriptions with the same `queue`, one gets each message.
  Result<NatsSubscription> Subscribe(const std::string& subject, const std::string& queue, const NatsInbox& inbox);

  const NatsLibrary& library() const { return library_; }
  natsConnection* raw() const { return connection_; }

 private:
  NatsConnection(const NatsLibrary& library, void* closure) : library_(library), closure_(closure) {}

  const NatsLibrary& library_;
  void* const closure_;  // of the doorbell
  natsConnection* connection_ = nullptr;
};

}  // namespace holdfast::rendezvous
