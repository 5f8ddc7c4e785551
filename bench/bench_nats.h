// A nats-server with JetStream for the nodes of a benchmark, on a port of loopback that it chooses.
#pragma once

#include <sys/types.h>

#include <string>

namespace holdfast::bench {

class NatsServer {
 public:
  // Returns when the server accepts connections. A failure ends the program.
  NatsServer();
  ~NatsServer();
  NatsServer(const NatsServer&) = delete;
  NatsServer& operator=(const NatsServer&) = delete;

  const std::string& url() const { return url_; }

 private:
  std::string dir_;
  pid_t pid_;
  std::string url_;
};

}  // namespace holdfast::bench
