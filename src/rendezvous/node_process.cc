#include "rendezvous/node_process.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "auth/secret_file.h"
#include "base/log.h"
#include "rendezvous/bus/memory_bus.h"
#include "rendezvous/config_check.h"
#include "rendezvous/nats/nats_bus.h"
#include "rendezvous/node_url.h"
#include "rendezvous/relay/leg.h"
#include "transport/tls_context.h"

namespace holdfast::rendezvous {
namespace {

using namespace std::chrono_literals;

constexpr auto kTokensInterval = 1s;
constexpr auto kStopTime = 3s;  // more than a closing handshake may take

// The slot of a connection, with a function that is called when the connection has closed.
class WatchedSlot {
 public:
  WatchedSlot(transport::Slot slot, loop::Callback on_closed)
      : slot_(std::move(slot)), on_closed_(std::move(on_closed)) {}
  ~WatchedSlot() { on_closed_(); }
  WatchedSlot(const WatchedSlot&) = delete;
  WatchedSlot& operator=(const WatchedSlot&) = delete;

 private:
  transport::Slot slot_;
  loop::Callback on_closed_;
};

// The settings have been checked.
Result<std::unique_ptr<Bus>> MakeBus(loop::EventLoop& loop, const RendezvousConfig& config, uint16_t port) {
  if (config.bus == "memory") return MakeMemoryBus();
  return MakeNatsBus(
      loop, {.url = config.bus, .credentials_file = config.nats_credentials, .node_url = NodeUrl(config, port)});
}

Result<std::optional<transport::TlsContext>> TlsOf(const RendezvousConfig& config) {
  if (config.tls_cert.empty()) return std::nullopt;
  TRY(auto context, transport::TlsContext::ForServer(config.tls_cert, config.tls_key));
  auth::WarnOfReadableKey(config.tls_key);
  return context;
}

void WarnOfPlainHttp(const RendezvousConfig& config, const transport::WebSocketUrl& address) {
  if (address.loopback || !config.tls_cert.empty() || config.public_url.starts_with("https:")) return;
  LogWarn("rendezvous.plain", {{"listen", config.listen},
                               {"reason",
                                "tokens of other machines are sent without encryption; use --tls-cert and "
                                "--tls-key, or a proxy that speaks TLS"}});
}

}  // namespace

Result<std::unique_ptr<NodeProcess>> NodeProcess::Create(loop::EventLoop& loop, const RendezvousConfig& config) {
  TRY_VOID(CheckConfig(config));
  TokenReading reading = ReadTokenFile(config.tokens_file);
  TRY(TokenTable tokens, std::move(reading.table));
  std::unique_ptr<NodeProcess> node(new NodeProcess(loop, config));
  node->tokens_version_ = reading.version;
  TRY_VOID(node->Listen(std::move(tokens)));
  return node;
}

NodeProcess::NodeProcess(loop::EventLoop& loop, const RendezvousConfig& config)
    : loop_(loop),
      config_(config),
      workers_(loop, {.name = "tokens", .usual_workers = 1}),
      stop_timer_(loop, [this] { loop_.Stop(); }) {}

NodeProcess::~NodeProcess() = default;

// Requests cannot arrive before the service is made, because the loop does not run meanwhile.
Result<> NodeProcess::Listen(TokenTable tokens) {
  TRY(const transport::WebSocketUrl address, ListenAddressOf(config_));
  TRY(auto tls, TlsOf(config_));
  const auto security = tls ? transport::Security::kTls : transport::Security::kPlain;
  transport::Limits limits;
  limits.max_connections = config_.max_connections;
  TRY(listener_,
      transport::ListenWebSocket(
          loop_, address, limits,
          {.routes = {{.path = "/healthz",
                       .kind = transport::HttpRoute::Kind::kProbe,
                       .access = transport::HttpRoute::Access::kEveryone}},
           .tls = std::move(tls),
           .on_call = [this](std::unique_ptr<transport::HttpCall> call) { service_->Serve(std::move(call)); }},
          [](const std::shared_ptr<rpc::Transport>& transport) { transport->Close(); }));
  TRY(bus_, MakeBus(loop_, config_, listener_->port()));
  neighbours_ = std::make_unique<LinkDialler>(
      loop_, *bus_, config_.insecure_node_http ? PlainLinks::kAnywhere : PlainLinks::kOnThisMachine);
  const std::string bound = url().substr(url().find("//") + 2);
  PublicUrl public_url = PublicUrl::OfRequests(security, bound);
  if (!config_.public_url.empty()) {
    TRY(public_url, PublicUrl::Parse(config_.public_url));
  }
  service_ = std::make_unique<Service>(
      loop_, *bus_, *neighbours_, std::move(tokens),
      ServiceOptions{.public_url = std::move(public_url),
                     .accept = [this](transport::UpgradedSocket socket, std::function<void()> on_ended) {
                       return Accept(std::move(socket), std::move(on_ended));
                     }});
  WarnOfPlainHttp(config_, address);
  return {};
}

// The URL of the listener begins with ws or wss.
std::string NodeProcess::url() const {
  const std::string url = listener_->url();
  return "http" + url.substr(2);
}

std::shared_ptr<Pipe> NodeProcess::Accept(transport::UpgradedSocket socket, std::function<void()> on_ended) {
  ++open_connections_;
  socket.slot = std::make_shared<WatchedSlot>(std::move(socket.slot), [this, alive = std::weak_ptr(alive_)] {
    if (!alive.expired()) OnConnectionClosed();
  });
  return Leg::Accept(loop_, std::move(socket), {}, std::move(on_ended));
}

void NodeProcess::OnConnectionClosed() {
  if (--open_connections_ == 0 && stopping_) loop_.Stop();
}

void NodeProcess::Start(OnListening on_listening) { scope_.Start(Run(std::move(on_listening))); }

loop::Task<> NodeProcess::Run(OnListening on_listening) {
  outcome_ = co_await bus_->Start();
  if (!outcome_) co_return loop_.Stop();
  LogInfo("rendezvous.started",
          {{"url", url()}, {"bus", config_.bus == "memory" ? "memory" : "nats"}, {"advertised", bus_->place().url}});
  if (on_listening) on_listening(url());
  co_await WatchTokens();
}

void NodeProcess::ReloadTokens() {
  must_reload_ = true;
  reload_.Notify();
}

loop::Task<> NodeProcess::WatchTokens() {
  for (;;) {
    loop::Deadline next(loop_, kTokensInterval);
    if (!must_reload_) co_await reload_.NextBefore(next);
    auto look = [path = config_.tokens_file, version = tokens_version_, always = std::exchange(must_reload_, false)] {
      return always ? ReadTokenFile(path) : ReadIfChanged(path, version);
    };
    auto reading = co_await workers_.Do(std::move(look));
    if (reading) UseTokens(*std::move(reading));
  }
}

void NodeProcess::UseTokens(TokenReading reading) {
  tokens_version_ = reading.version;
  if (!reading.table) return LogError("tokens.reload_failed", {{"reason", reading.table.error().message}});
  LogInfo("tokens.reloaded", {{"file", config_.tokens_file}});
  service_->ReplaceTokens(*std::move(reading.table));
}

void NodeProcess::Stop() {
  LogInfo("rendezvous.stopping", {{"connections", open_connections_}});
  stopping_ = true;
  listener_->Stop();
  service_->Stop();
  if (open_connections_ == 0) return loop_.Stop();
  stop_timer_.Start(kStopTime);
}

}  // namespace holdfast::rendezvous
