#include "rendezvous/nats/nats_bus.h"

#include <utility>
#include <vector>

#include "base/log.h"
#include "base/random_id.h"
#include "loop/event.h"
#include "loop/permit.h"
#include "loop/scope.h"
#include "loop/sleep.h"
#include "loop/worker_pool.h"
#include "rendezvous/nats/nats_connection.h"
#include "rendezvous/nats/nats_library.h"
#include "rendezvous/nats/nats_registry.h"
#include "rendezvous/nats/nats_settings.h"

namespace holdfast::rendezvous {
namespace {

constexpr std::chrono::milliseconds kReconnectWait{250};

class NatsBus final : public Bus {
 public:
  NatsBus(loop::EventLoop& loop, const NatsLibrary& library, NatsSettings settings, std::vector<std::string> urls);
  ~NatsBus() override { registry_.Use(nullptr, {}); }

  loop::Task<Result<>> Start() override;
  const std::string& ticket_key() const override { return registry_.ticket_key(); }
  NodePlace place() const override { return registry_.place(); }
  void Publish(const ExecutorRecord& record) override { registry_.Put(record); }
  void Withdraw(const std::string& id) override { registry_.Remove(id); }
  loop::Task<Result<std::vector<ExecutorRecord>>> Others() override { return registry_.Others(); }
  loop::Task<Result<std::vector<ExecutorElsewhere>>> Find(std::string id) override {
    return registry_.Find(std::move(id));
  }
  bool connected() const override { return is_connected_ && registry_.is_settled(); }

 private:
  struct Connected {
    std::shared_ptr<NatsConnection> connection;
    std::string node_url;
  };

  loop::Task<Result<>> Connect();
  void OnEnded(uint64_t number);
  loop::Task<> KeepConnected();

  loop::EventLoop& loop_;
  const NatsLibrary& library_;
  const NatsSettings settings_;
  const std::vector<std::string> urls_;
  const std::string name_ = RandomUuid();  // of this node
  uint64_t attempts_ = 0;                  // the latest connection is that of the latest attempt
  bool is_connected_ = false;
  bool attempt_ended_ = false;  // the connection of the latest attempt has ended
  loop::Event ended_;
  loop::Permits connections_;  // their permits return when they end
  loop::WorkerPool workers_;
  NatsRegistry registry_;
  loop::Scope scope_;
};

NatsBus::NatsBus(loop::EventLoop& loop, const NatsLibrary& library, NatsSettings settings,
                 std::vector<std::string> urls)
    : loop_(loop),
      library_(library),
      settings_(std::move(settings)),
      urls_(std::move(urls)),
      connections_(loop, [this](uint64_t number) { OnEnded(number); }),
      workers_(loop, {.name = "nats"}),
      registry_(loop, workers_, {settings_.bucket, settings_.record_time_to_live}) {}

loop::Task<Result<>> NatsBus::Start() {
  Result<> connected = co_await Connect();
  if (connected) connected = co_await registry_.Write(NatsRegistry::Extent::kEverything);
  if (!connected) co_return connected;
  scope_.Start(KeepConnected());
  scope_.Start(registry_.KeepWriting());
  co_return Result<>();
}

// Tries one server after the other, one in each call, so that a node leaves a server that is there but of no use.
loop::Task<Result<>> NatsBus::Connect() {
  attempt_ended_ = false;
  const NatsConnection::Options options{.url = urls_[attempts_ % urls_.size()],
                                        .credentials_file = settings_.credentials_file,
                                        .name = "holdfast rendezvous " + name_};
  auto connect = [library = &library_, options, alive = connections_.Issue(++attempts_),
                  node_url = settings_.node_url]() mutable -> Result<Connected> {
    const NatsCalls calls(*library);
    TRY(auto connection, NatsConnection::Connect(*library, options, std::move(alive)));
    TRY(std::string url, node_url([&] { return connection->OwnAddress(); }));
    return Connected{std::move(connection), std::move(url)};
  };
  auto connected = co_await workers_.Do(std::move(connect));
  if (!connected) co_return std::unexpected(connected.error());
  registry_.Use(std::move(connected->connection), {.name = name_, .url = std::move(connected->node_url)});
  is_connected_ = true;
  if (attempt_ended_) OnEnded(attempts_);
  co_return Result<>();
}

// The connection may end before its attempt has.
void NatsBus::OnEnded(uint64_t number) {
  if (number != attempts_) return;
  attempt_ended_ = true;
  if (!std::exchange(is_connected_, false)) return;
  registry_.Use(nullptr, registry_.place());
  ended_.Notify();
}

loop::Task<> NatsBus::KeepConnected() {
  for (;;) {
    while (is_connected_) co_await ended_.Next();
    LogWarn("nats.disconnected");
    for (Result<> result = co_await Connect(); !result; result = co_await Connect()) {
      LogDebug("nats.connect_failed", {{"reason", result.error().message}});
      co_await loop::Sleep(loop_, kReconnectWait);
    }
    LogInfo("nats.connected");
  }
}

}  // namespace

Result<std::unique_ptr<Bus>> MakeNatsBus(loop::EventLoop& loop, NatsSettings settings) {
  TRY(std::vector<std::string> urls, CheckedUrls(settings));
  TRY(const NatsLibrary* library, NatsLibrary::Load());
  return std::make_unique<NatsBus>(loop, *library, std::move(settings), std::move(urls));
}

}  // namespace holdfast::rendezvous
