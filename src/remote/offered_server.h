// An OfferedServer is what an executor offers to the clients of a rendezvous: the exec-server of this process, or
// another one that a Forwarder connects them to.
#pragma once

#include <memory>

#include "rpc/transport.h"
#include "transport/listener.h"

namespace holdfast::remote {

class OfferedServer {
 public:
  virtual ~OfferedServer() = default;

  // Serves the client behind a connection of the rendezvous. A server that is stopping closes it.
  virtual void Serve(std::shared_ptr<rpc::Transport> connection) = 0;

  // Returns the limits for connections that are passed to Serve.
  virtual transport::Limits limits() const = 0;

  // Closes the connections and then stops the loop.
  virtual void Shutdown() = 0;
  virtual bool stopping() const = 0;
};

}  // namespace holdfast::remote
