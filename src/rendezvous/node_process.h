// A NodeProcess is one node: the listener, the service behind it, the bus, and the watch over the file of tokens.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "base/result.h"
#include "loop/event.h"
#include "loop/event_loop.h"
#include "loop/scope.h"
#include "loop/task.h"
#include "loop/worker_pool.h"
#include "rendezvous/bus/bus.h"
#include "rendezvous/link/link_dialler.h"
#include "rendezvous/rendezvous_config.h"
#include "rendezvous/service.h"
#include "rendezvous/token_file.h"
#include "transport/listener.h"

namespace holdfast::rendezvous {

class NodeProcess {
 public:
  // Reads the tokens and listens. `config` must outlive the node.
  static Result<std::unique_ptr<NodeProcess>> Create(loop::EventLoop& loop, const RendezvousConfig& config);
  ~NodeProcess();

  // Connects to the other nodes and then calls `on_listening`. If that fails, the loop stops with an outcome.
  void Start(OnListening on_listening);

  // Reads the file of tokens at once.
  void ReloadTokens();

  // Closes all connections, and stops the loop when they are closed or a short time is over.
  void Stop();

  const Result<>& outcome() const { return outcome_; }

 private:
  NodeProcess(loop::EventLoop& loop, const RendezvousConfig& config);

  Result<> Listen(TokenTable tokens);
  std::shared_ptr<Pipe> Accept(transport::UpgradedSocket socket, std::function<void()> on_ended);
  void OnConnectionClosed();
  loop::Task<> Run(OnListening on_listening);
  loop::Task<> WatchTokens();
  void UseTokens(TokenReading reading);
  std::string url() const;

  loop::EventLoop& loop_;
  const RendezvousConfig& config_;
  loop::WorkerPool workers_;
  FileVersion tokens_version_;
  bool must_reload_ = false;  // even if the file has not changed
  loop::Event reload_;
  std::unique_ptr<Bus> bus_;
  std::unique_ptr<LinkDialler> neighbours_;
  std::unique_ptr<Service> service_;
  std::unique_ptr<transport::Listener> listener_;
  size_t open_connections_ = 0;
  bool stopping_ = false;
  loop::Timer stop_timer_;
  Result<> outcome_;
  loop::Scope scope_;
  // Connections may outlive the node, and hold a weak reference. It is the first member that is destroyed.
  std::shared_ptr<char> alive_ = std::make_shared<char>();
};

}  // namespace holdfast::rendezvous
