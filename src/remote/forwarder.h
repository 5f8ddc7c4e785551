// A Forwarder offers an exec-server that runs elsewhere: it connects each client of the rendezvous to that server by a
// connection of its own. It understands no message.
#pragma once

#include <memory>
#include <string>
#include <unordered_map>

#include "loop/byte_budget.h"
#include "loop/event_loop.h"
#include "loop/task.h"
#include "loop/worker_pool.h"
#include "remote/forwarded_connection.h"
#include "remote/offered_server.h"
#include "remote/token.h"
#include "transport/dial_url.h"

namespace holdfast::remote {

struct ForwardTarget {
  transport::ServerUrl server;
  std::string token_file = {};  // of the token that the server asks for; read for each connection. Empty: no token
  std::string ca_file = {};
};

class Forwarder final : public OfferedServer {
 public:
  // The loop outlives the forwarder.
  Forwarder(loop::EventLoop& loop, ForwardTarget target);

  void Serve(std::shared_ptr<rpc::Transport> connection) override;
  transport::Limits limits() const override;
  void Shutdown() override;
  bool stopping() const override { return stopping_; }

 private:
  loop::Task<ForwardedConnection::Dialled> DialServer();
  void Forget(const rpc::Transport* client);
  void StopWhenEmpty();

  loop::EventLoop& loop_;
  const ForwardTarget target_;
  const std::shared_ptr<loop::ByteBudget> held_;  // the messages that arrive or wait
  loop::WorkerPool workers_;                      // read the token's file
  std::unordered_map<const rpc::Transport*, std::unique_ptr<ForwardedConnection>> connections_;
  bool stopping_ = false;
};

}  // namespace holdfast::remote
