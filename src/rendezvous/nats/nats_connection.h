// One connection to a NATS server, which is not restored after its end: the bus makes another. All functions may block
// and are called on workers, from any number of them at a time.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "base/result.h"
#include "loop/permit.h"
#include "rendezvous/nats/nats_library.h"

namespace holdfast::rendezvous {

class NatsConnection {
 public:
  struct Options {
    std::string url;  // of one server: nats://HOST:PORT or tls://HOST:PORT
    std::string credentials_file{};
    std::string name;  // as the server shows it
  };

  // Connects, in five seconds at most. `alive` returns to its source when the connection has ended, or was not made.
  static Result<std::shared_ptr<NatsConnection>> Connect(const NatsLibrary& library, const Options& options,
                                                         loop::Permit alive);
  ~NatsConnection();
  NatsConnection(const NatsConnection&) = delete;
  NatsConnection& operator=(const NatsConnection&) = delete;

  // Returns the address of this program as the server sees it, an IPv4 or IPv6 address.
  Result<std::string> OwnAddress() const;

  const NatsLibrary& library() const { return library_; }
  natsConnection* raw() const { return connection_; }

 private:
  NatsConnection(const NatsLibrary& library, loop::Permit alive);

  const NatsLibrary& library_;
  const uintptr_t number_;  // of this connection, for callbacks of the library
  natsConnection* connection_ = nullptr;
};

}  // namespace holdfast::rendezvous
