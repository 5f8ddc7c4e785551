// A real nats-server with JetStream as a child of the test, on a port and with a directory of its own. It ends with the
// test, also if the test is killed.
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

#include "support/scratch_dir.h"

namespace holdfast::support {

class NatsServer {
 public:
  // Starts the server and waits until it accepts connections. A failure fails the test.
  explicit NatsServer(std::vector<std::string> flags = {});
  ~NatsServer();
  NatsServer(const NatsServer&) = delete;
  NatsServer& operator=(const NatsServer&) = delete;

  std::string url() const { return "nats://" + address(); }
  std::string address() const { return "127.0.0.1:" + std::to_string(port_); }
  int port() const { return port_; }

  // Kills the server and forgets what JetStream has on the disk.
  void Kill();
  // Starts the server again, on the same port.
  void Start();
  // Lets the server stand still, all of it when the call returns, and go on.
  void Pause() const;
  void GoOn() const;

 private:
  ScratchDir dir_;
  std::vector<std::string> flags_;
  pid_t pid_ = -1;  // -1 while no server runs
  int port_ = -1;   // -1 until the first start
};

}  // namespace holdfast::support
