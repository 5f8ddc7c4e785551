// A crowd of executors and clients of one node, all in this process. The executors are light ones: they register, keep
// one connection waiting as real executors do, and send each message back. Everything that fails ends the program.
#pragma once

#include <cstddef>
#include <functional>
#include <list>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "bench_commands.h"
#include "loop/event_loop.h"
#include "loop/scope.h"
#include "loop/task.h"
#include "rpc/transport.h"

namespace holdfast::bench {

struct NodeAccess {
  std::string url;  // http://IP:PORT
  std::string executor_token, client_token;
};

class Crowd {
 public:
  explicit Crowd(NodeAccess node);
  ~Crowd();
  Crowd(const Crowd&) = delete;
  Crowd& operator=(const Crowd&) = delete;

  // Adds executors, and returns when each has a connection that waits.
  void AddExecutors(size_t count);

  // Adds a client for each executor that has none, and returns when each has got a message back and each executor has
  // opened its next connection.
  void AddClients();

  // Lets the first `active` clients send messages, each as soon as the one before has come back. Returns the times from
  // a message to its echo, in microseconds.
  std::vector<double> Echo(size_t active, size_t messages_of_each);

 private:
  class ExecutorConnection;
  class ClientConnection;

  loop::Task<std::shared_ptr<rpc::Transport>> Dial(std::string url);
  loop::Task<> OpenWaiting(std::string url);
  loop::Task<> OpenClient(std::string id);
  void RunUntil(const std::function<bool()>& done);

  NodeAccess node_;
  loop::EventLoop loop_;
  loop::Scope scope_;
  size_t executors_ = 0, open_connections_ = 0, joined_ = 0;
  std::list<std::unique_ptr<ExecutorConnection>> executor_connections_;
  std::vector<std::unique_ptr<ClientConnection>> clients_;
};

}  // namespace holdfast::bench
