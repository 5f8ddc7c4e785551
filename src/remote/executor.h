// An Executor keeps a server connected to its rendezvous: it registers, dials, passes the connection to the server, and
// begins again when the connection has ended. The server and its sessions live on in between. An error that is fatal
// shuts the server down.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "loop/event.h"
#include "loop/event_loop.h"
#include "loop/scope.h"
#include "loop/task.h"
#include "remote/offered_server.h"
#include "remote/registrant.h"
#include "remote/registration.h"
#include "remote/registry_client.h"
#include "remote/retry.h"
#include "remote/token.h"

namespace holdfast::remote {

// Told of each registration that has succeeded.
using OnRegistered = std::function<void(const Registration&)>;

struct ExecutorOptions {
  Registrant registrant;  // checked
  TokenSource token;
  std::string ca_file;
  size_t max_connections;
  OnRegistered on_registered;
};

class Executor {
 public:
  // The loop and the server outlive the executor.
  Executor(loop::EventLoop& loop, OfferedServer& server, ExecutorOptions options);
  Executor(const Executor&) = delete;
  Executor& operator=(const Executor&) = delete;

  void Start() { scope_.Start(Run()); }

  // Returns the fatal error that has ended the executor, if there was one.
  const Result<>& outcome() const { return outcome_; }

 private:
  using Offered = std::shared_ptr<OfferedConnection>;
  enum class Next { kDial, kPause, kEnd };

  loop::Task<> Run();
  loop::Task<Next> Attempt();
  loop::Task<Next> Register();
  loop::Task<Next> Serve();
  Next OnUnconnected(const Error& error, std::optional<unsigned> status);
  loop::Task<Next> UntilNextIsNeeded(Offered connection);
  void ForgetEnded();
  loop::Task<> Pause();
  Next End(std::string message);

  loop::EventLoop& loop_;
  OfferedServer& server_;
  const ExecutorOptions options_;
  RegistryClient registry_;
  BackOff back_off_;
  std::optional<Registration> registration_;  // the latest
  bool is_current_ = false;                   // the next connection uses registration_
  std::vector<Offered> open_;
  // The connections belong to the server, and may outlive the executor.
  const std::shared_ptr<loop::Event> changed_ = std::make_shared<loop::Event>();
  Result<> outcome_;
  loop::Scope scope_;
};

}  // namespace holdfast::remote
