#include "rendezvous/service.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "auth/peer_address.h"
#include "base/log.h"
#include "rendezvous/executor_list.h"

namespace holdfast::rendezvous {
namespace {

using Clock = ExecutorTable::Clock;
using Role = TokenRights::Role;
using transport::HttpCall;
using transport::HttpResponse;

// A number that is one more while this object lives.
class Counted {
 public:
  explicit Counted(size_t& count) : count_(count) { ++count_; }
  ~Counted() { --count_; }
  Counted(const Counted&) = delete;
  Counted& operator=(const Counted&) = delete;

 private:
  size_t& count_;
};

HttpResponse JsonResponse(std::string body) { return {.body = std::move(body), .content_type = "application/json"}; }

// A proxy on this machine tells by one of these headers that a request comes from elsewhere.
bool IsFromThisMachine(const HttpCall& call) {
  const auto& request = call.request();
  return auth::PeerAddress::Of(call.socket()).is_loopback() && request.HeaderValues("Forwarded").empty() &&
         request.HeaderValues("X-Forwarded-For").empty();
}

}  // namespace

Service::Service(loop::EventLoop& loop, Bus& bus, Neighbours& neighbours, TokenTable tokens, ServiceOptions options)
    : bus_(bus),
      options_(std::move(options)),
      admission_(std::move(tokens)),
      executors_(bus),
      search_(loop, neighbours, executors_, options_.search),
      pairs_(loop, options_.silence, [this](const Pairs::Pair& pair) { OnPairEnded(pair); }),
      links_(loop, bus, [this](const std::string& id, std::shared_ptr<Pipe> client) {
        return JoinWaiting(id, std::move(client));
      }) {}

Service::~Service() = default;

void Service::Serve(Call call) {
  const auto destination = DestinationOf(call->request());
  if (!destination) return Refuse(*call, destination.error());
  if (!scope_) return Refuse(*call, Refusal::kNotReady, "the node is stopping");
  switch (destination->route) {
    case Route::kRegisterExecutor:
      return Register(*call, destination->id, RegistrationForm::kExecutor);
    case Route::kRegisterEnvironment:
      return Register(*call, destination->id, RegistrationForm::kEnvironment);
    case Route::kExecutor:
      return AcceptExecutor(*call, destination->id);
    case Route::kClient:
      return AcceptClient(std::move(call), destination->id);
    case Route::kLink:
    case Route::kWatch:
      return OpenLink(*call, destination->id);
    case Route::kList:
      return List(std::move(call));
    case Route::kReady:
      return AnswerReady(*call);
    case Route::kMetrics:
      return AnswerMetrics(*call);
  }
}

void Service::Register(HttpCall& call, const std::string& id, RegistrationForm form) {
  const auto rights = admission_.Check(call, Role::kExecutor);
  if (!rights) return Refuse(call, rights.error());
  if (!rights->Allows(id)) return Refuse(call, Refusal::kIdNotAllowed);
  auto name = ReadRegistration(form, id, call.request().body);
  if (!name) return Refuse(call, Refusal::kBadRequest, name.error().message);
  if (!bus_.connected()) return Refuse(call, Refusal::kNotReady);
  const Ticket ticket{.executor_id = id,
                      .registration_id = NextRegistrationId(),
                      .name = *std::move(name),
                      .token_sha256 = rights->token_sha256};
  const std::string url = options_.public_url.ForExecutor(call.request(), id, Signed(ticket, bus_.ticket_key()));
  executors_.Remember(id, Clock::now());
  metrics_.CountRegistration();
  LogInfo("executor.registered", {{"executor", id}, {"token_name", rights->name}, {"peer", call.peer()}});
  call.Answer(JsonResponse(RegistrationAnswer(form, ticket, url)));
}

std::expected<Ticket, Refusal> Service::CheckTicket(const transport::HttpMessage& request,
                                                    const std::string& id) const {
  if (bus_.ticket_key().empty()) return std::unexpected(Refusal::kNotReady);
  const auto text = QueryValue(request.query, "ticket");
  auto ticket = Verified(text.value_or(""), bus_.ticket_key());
  // The other nodes may have another key, of which this one hears when it is connected again.
  if (!ticket) return std::unexpected(bus_.connected() ? Refusal::kBadTicket : Refusal::kNotReady);
  if (ticket->executor_id != id) return std::unexpected(Refusal::kBadTicket);
  if (!IsValid(ticket->token_sha256, Role::kExecutor, id)) return std::unexpected(Refusal::kBadTicket);
  return *std::move(ticket);
}

void Service::AcceptExecutor(HttpCall& call, const std::string& id) {
  auto ticket = CheckTicket(call.request(), id);
  if (!ticket) return Refuse(call, ticket.error());
  if (!call.asks_for_web_socket()) return Refuse(call, Refusal::kNoUpgrade);
  auto slot = admission_.TakeSlot(*admission_.table().OfDigest(ticket->token_sha256, Role::kExecutor));
  if (!slot) return Refuse(call, Refusal::kTokenIsFull);
  LogInfo("executor.connected", {{"executor", id}, {"peer", call.peer()}});
  const uint64_t key = next_key_++;
  auto pipe = options_.accept(call.TakeUpgrade(), [this, id, key] {
    LogInfo("executor.disconnected", {{"executor", id}});
    executors_.Remove(id, key, Clock::now());
  });
  executors_.Add(key, {.pipe = std::move(pipe), .ticket = *std::move(ticket), .slot = std::move(slot)}, Clock::now());
}

void Service::AcceptClient(Call call, const std::string& id) {
  auto rights = admission_.Check(*call, Role::kClient);
  if (!rights) return Refuse(*call, rights.error());
  if (!rights->Allows(id)) return Refuse(*call, Refusal::kIdNotAllowed);
  if (!call->asks_for_web_socket()) return Refuse(*call, Refusal::kNoUpgrade);
  auto slot = admission_.TakeSlot(*rights);
  if (!slot) return Refuse(*call, Refusal::kTokenIsFull);
  scope_->Start(JoinClient(std::move(call), id, *std::move(rights), std::move(slot)));
}

loop::Task<> Service::JoinClient(Call call, std::string id, TokenRights rights, transport::Slot slot) {
  const auto begin = Clock::now();
  std::optional<Counted> waiting(std::in_place, waiting_clients_);
  auto found = co_await search_.Find(*call, id);
  waiting.reset();
  metrics_.CountWait(Clock::now() - begin);
  if (!found) co_return Refuse(*call, found.error());
  if (!*found) co_return;  // the client has hung up
  FoundExecutor executor = **std::move(found);
  // The token may have been withdrawn, or the client may have hung up, while another node was asked.
  if (call->gone() || !IsValid(rights.token_sha256, Role::kClient, id)) {
    executor.pipe->Close();
    if (executor.connection) executors_.EndSession(id, Clock::now());
    if (!call->gone()) Refuse(*call, Refusal::kBadToken);
    co_return;
  }
  LogInfo("client.joined", {{"executor", id}, {"token_name", rights.name}, {"peer", call->peer()}});
  Join(*call, id, {.pipe = {}, .token_sha256 = rights.token_sha256, .slot = std::move(slot)}, std::move(executor));
}

void Service::Join(HttpCall& call, const std::string& id, PairSide client, FoundExecutor executor) {
  client.pipe = options_.accept(call.TakeUpgrade(), [] {});
  PairSide side{.pipe = std::move(executor.pipe)};
  if (executor.connection) {
    side.token_sha256 = executor.connection->ticket.token_sha256;
    side.slot = std::move(executor.connection->slot);
  }
  metrics_.CountJoin(side.is_here() ? Metrics::Join::kLocal : Metrics::Join::kExecutorElsewhere);
  pairs_.Join(id, std::move(side), std::move(client));
}

// A node that is alone has no key that others know, and none of them asks it.
void Service::OpenLink(HttpCall& call, const std::string& id) {
  if (bus_.ticket_key().empty() || bus_.place().url.empty()) return Refuse(call, Refusal::kNotReady);
  LinkRequest request{.watch = QueryValue(call.request().query, "watch").value_or(""),
                      .nonce = QueryValue(call.request().query, "nonce").value_or(""),
                      .executor = id};
  if (request.watch.empty() || request.nonce.empty()) {
    return Refuse(call, Refusal::kBadRequest, "the request names no watch or no nonce");
  }
  if (!call.asks_for_web_socket()) return Refuse(call, Refusal::kNoUpgrade);
  links_.Open(call.TakeUpgrade(), std::move(request));
}

bool Service::JoinWaiting(const std::string& id, std::shared_ptr<Pipe> client) {
  auto connection = executors_.Take(id, Clock::now());
  if (!connection) return false;
  LogInfo("client.joined", {{"executor", id}, {"peer", "another node"}});
  metrics_.CountJoin(Metrics::Join::kClientElsewhere);
  pairs_.Join(id,
              {.pipe = std::move(connection->pipe),
               .token_sha256 = std::move(connection->ticket.token_sha256),
               .slot = std::move(connection->slot)},
              {.pipe = std::move(client)});
  return true;
}

void Service::OnPairEnded(const Pairs::Pair& pair) {
  LogInfo("client.left", {{"executor", pair.executor_id}});
  if (pair.executor.is_here()) executors_.EndSession(pair.executor_id, Clock::now());
}

void Service::List(Call call) {
  auto rights = admission_.Check(*call, Role::kClient);
  if (!rights) return Refuse(*call, rights.error());
  auto slot = admission_.TakeSlot(*rights);
  if (!slot) return Refuse(*call, Refusal::kTokenIsFull);
  scope_->Start(AnswerList(std::move(call), *std::move(rights), std::move(slot)));
}

loop::Task<> Service::AnswerList(Call call, TokenRights rights, transport::Slot slot) {
  auto others = co_await bus_.Others();
  if (!others) co_return Refuse(*call, Refusal::kNotReady);
  std::ranges::move(executors_.Records(), std::back_inserter(*others));
  HttpResponse response = JsonResponse(ExecutorList(*others, rights));
  response.slot = std::move(slot);
  call->Answer(std::move(response));
}

void Service::AnswerReady(HttpCall& call) const {
  call.Answer(bus_.connected() ? HttpResponse{} : ResponseTo(Refusal::kNotReady));
}

void Service::AnswerMetrics(HttpCall& call) {
  if (!IsFromThisMachine(call)) {
    const auto rights = admission_.Check(call, Role::kClient);
    if (!rights) return Refuse(call, rights.error());
  }
  call.Answer({.body = metrics_.Text(Gauges()), .content_type = "text/plain; version=0.0.4; charset=utf-8"});
}

Metrics::Gauges Service::Gauges() const {
  const auto records = executors_.Records();
  size_t waiting = 0;
  for (const ExecutorRecord& record : records) waiting += record.waiting;
  return {
      .executor_connections = waiting + pairs_.CountIf([](const Pairs::Pair& pair) { return pair.executor.is_here(); }),
      .client_connections = pairs_.CountIf([](const Pairs::Pair& pair) { return pair.client.is_here(); }),
      .executors = records.size(),
      .waiting_executors = waiting,
      .waiting_clients = waiting_clients_,
      .pairs = pairs_.size(),
      .relayed_bytes = pairs_.relayed_bytes(),
      .bus_connected = bus_.connected()};
}

// An executor gives up when the answer to its registration is 4xx. It must come back if only its address has to wait.
void Service::Refuse(HttpCall& call, Refusal refusal, std::string_view message) {
  metrics_.CountRefusal(refusal);
  LogDebug("request.refused", {{"peer", call.peer()}, {"reason", CodeOf(refusal)}});
  HttpResponse response = ResponseTo(refusal, message);
  if (refusal == Refusal::kTooManyAttempts && call.request().method == "POST") response.status = 503;
  call.Answer(std::move(response));
}

bool Service::IsValid(const std::string& token_sha256, Role role, const std::string& id) const {
  const TokenRights* const rights = admission_.table().OfDigest(token_sha256, role);
  return rights != nullptr && rights->Allows(id);
}

void Service::ReplaceTokens(TokenTable tokens) {
  admission_.Replace(std::move(tokens));
  const auto ended = executors_.RemoveIf(
      [this](const Ticket& ticket) { return !IsValid(ticket.token_sha256, Role::kExecutor, ticket.executor_id); },
      Clock::now());
  for (const WaitingConnection& connection : ended) connection.pipe->Close();
  pairs_.EndIf([this](const Pairs::Pair& pair) {
    const auto is_withdrawn = [&](const PairSide& side, Role role) {
      return side.is_here() && !IsValid(side.token_sha256, role, pair.executor_id);
    };
    return is_withdrawn(pair.executor, Role::kExecutor) || is_withdrawn(pair.client, Role::kClient);
  });
}

void Service::Stop() {
  scope_.reset();
  const auto waiting = executors_.RemoveIf([](const Ticket&) { return true; }, Clock::now());
  for (const WaitingConnection& connection : waiting) connection.pipe->Close();
  pairs_.EndIf([](const Pairs::Pair&) { return true; });
  links_.Close();
}

}  // namespace holdfast::rendezvous
