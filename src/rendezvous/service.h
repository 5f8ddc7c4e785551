// The service of a node: it answers registrations, keeps the connections of executors that wait, and joins clients to
// them. All functions are called on the loop.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "loop/event_loop.h"
#include "loop/scope.h"
#include "loop/task.h"
#include "rendezvous/admission.h"
#include "rendezvous/bus/bus.h"
#include "rendezvous/executor_search.h"
#include "rendezvous/executor_table.h"
#include "rendezvous/link/link_door.h"
#include "rendezvous/link/neighbours.h"
#include "rendezvous/metrics.h"
#include "rendezvous/pairs.h"
#include "rendezvous/public_url.h"
#include "rendezvous/registration.h"
#include "rendezvous/route.h"
#include "transport/http_call.h"

namespace holdfast::rendezvous {

struct ServiceOptions {
  PublicUrl public_url;
  // Answers an upgrade and returns the connection as a pipe. `on_ended` is called if it ends before it is started.
  std::function<std::shared_ptr<Pipe>(transport::UpgradedSocket socket, std::function<void()> on_ended)> accept;
  SearchTimes search = {};
  std::chrono::milliseconds silence{10'000};  // see Pairs
};

class Service {
 public:
  // The service refuses requests while the bus has not been started.
  Service(loop::EventLoop& loop, Bus& bus, Neighbours& neighbours, TokenTable tokens, ServiceOptions options);
  ~Service();

  void Serve(std::unique_ptr<transport::HttpCall> call);

  // Joins a client of another node, which is at the far end of the pipe, to a connection of the executor that waits
  // here. Returns whether one does.
  bool JoinWaiting(const std::string& id, std::shared_ptr<Pipe> client);

  // Connections whose token is not in the new table, or is not for their executor any more, end.
  void ReplaceTokens(TokenTable tokens);

  // Ends all connections, and refuses further requests.
  void Stop();

 private:
  using Call = std::unique_ptr<transport::HttpCall>;

  void Register(transport::HttpCall& call, const std::string& id, RegistrationForm form);
  void AcceptExecutor(transport::HttpCall& call, const std::string& id);
  std::expected<Ticket, Refusal> CheckTicket(const transport::HttpMessage& request, const std::string& id) const;
  void AcceptClient(Call call, const std::string& id);
  loop::Task<> JoinClient(Call call, std::string id, TokenRights rights, transport::Slot slot);
  void Join(transport::HttpCall& call, const std::string& id, PairSide client, FoundExecutor executor);
  void OpenLink(transport::HttpCall& call, const std::string& id);
  void List(Call call);
  loop::Task<> AnswerList(Call call, TokenRights rights, transport::Slot slot);
  void AnswerReady(transport::HttpCall& call) const;
  void AnswerMetrics(transport::HttpCall& call);
  Metrics::Gauges Gauges() const;
  void Refuse(transport::HttpCall& call, Refusal refusal, std::string_view message = "");
  bool IsValid(const std::string& token_sha256, TokenRights::Role role, const std::string& id) const;
  void OnPairEnded(const Pairs::Pair& pair);

  Bus& bus_;
  const ServiceOptions options_;
  Admission admission_;
  ExecutorTable executors_;
  ExecutorSearch search_;
  Metrics metrics_;
  Pairs pairs_;
  LinkDoor links_;
  uint64_t next_key_ = 0;
  size_t waiting_clients_ = 0;
  std::optional<loop::Scope> scope_{std::in_place};  // empty once the service has stopped
};

}  // namespace holdfast::rendezvous
