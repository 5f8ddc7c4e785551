#include "rendezvous/nats/nats_bus.h"

#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/log.h"
#include "base/random_id.h"
#include "loop/event.h"
#include "loop/scope.h"
#include "loop/sleep.h"
#include "loop/worker_pool.h"
#include "rendezvous/nats/join_requests.h"
#include "rendezvous/nats/nats_connection.h"
#include "rendezvous/nats/nats_library.h"
#include "rendezvous/nats/nats_line.h"
#include "rendezvous/nats/nats_pipe.h"
#include "rendezvous/nats/nats_registry.h"
#include "rendezvous/nats/nats_settings.h"

namespace holdfast::rendezvous {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds kReconnectWait{250};
constexpr milliseconds kJoinLimit{2'000};
constexpr int kJoinAttempts = 4;

class NatsBus final : public Bus, NatsLine::User {
 public:
  NatsBus(loop::EventLoop& loop, const NatsLibrary& library, NatsSettings settings, std::vector<std::string> urls);
  ~NatsBus() override;

  loop::Task<Result<>> Start(Node& node) override;
  const std::string& ticket_key() const override { return registry_.ticket_key(); }
  void Publish(const ExecutorRecord& record) override;
  void Withdraw(const std::string& id) override;
  loop::Task<Result<std::vector<ExecutorRecord>>> Others() override { return registry_.Others(); }
  loop::Task<Result<std::shared_ptr<Pipe>>> Join(std::string id) override;
  bool connected() const override { return has_line() && registry_.is_settled(); }

 private:
  bool has_line() const { return line_ != nullptr && !line_->ended(); }
  void OnLineEnded() override;
  loop::Task<Result<>> Connect();
  loop::Task<> KeepConnected();
  void AnswerRequest(const std::string& id, std::string_view name);
  std::shared_ptr<NatsPipe> OpenPipe(std::string_view name, std::string_view listens, std::string_view sends);

  loop::EventLoop& loop_;
  const NatsLibrary& library_;
  const NatsSettings settings_;
  const std::vector<std::string> urls_;
  const std::string name_ = RandomUuid();  // of this node
  Node* node_ = nullptr;
  size_t next_url_ = 0;
  loop::WorkerPool workers_;
  std::shared_ptr<NatsLine> line_;
  loop::Event line_ended_;
  JoinRequests requests_;
  NatsRegistry registry_;
  loop::Scope scope_;
};

NatsBus::NatsBus(loop::EventLoop& loop, const NatsLibrary& library, NatsSettings settings,
                 std::vector<std::string> urls)
    : loop_(loop),
      library_(library),
      settings_(std::move(settings)),
      urls_(std::move(urls)),
      workers_(loop, {.name = "nats"}),
      requests_(loop, settings_.subject_prefix,
                [this](const std::string& id, std::string_view name) { AnswerRequest(id, name); }),
      registry_(loop, workers_, {settings_.bucket, name_, settings_.record_time_to_live}) {}

// The pipes still tell their other ends that they end. A call of Join that is under way finds no line, and returns.
NatsBus::~NatsBus() {
  unlink();
  if (const auto line = std::move(line_)) line->Close();
  registry_.Use(nullptr);
}

loop::Task<Result<>> NatsBus::Start(Node& node) {
  node_ = &node;
  Result<> connected = co_await Connect();
  if (connected) connected = co_await registry_.Write(NatsRegistry::Extent::kEverything);
  if (!connected) co_return connected;
  scope_.Start(KeepConnected());
  scope_.Start(registry_.KeepWriting());
  co_return Result<>();
}

// Tries one server after the other, one in each call, so that a node leaves a server that is there but of no use.
loop::Task<Result<>> NatsBus::Connect() {
  auto line = NatsLine::Make(loop_, workers_);
  auto connect = [library = &library_, bell = line->bell(),
                  options = NatsConnection::Options{.url = urls_[next_url_++ % urls_.size()],
                                                    .credentials_file = settings_.credentials_file,
                                                    .name = "holdfast rendezvous " + name_}] {
    const NatsCalls calls(*library);
    return NatsConnection::Connect(*library, options, bell);
  };
  auto connection = co_await workers_.Do(std::move(connect));
  if (!connection) co_return std::unexpected(connection.error());
  line->Begin(*connection);
  line_ = std::move(line);
  registry_.Use(*std::move(connection));
  line_->AddUser(*this);
  requests_.Use(line_);
  co_return Result<>();
}

void NatsBus::OnLineEnded() {
  registry_.Use(nullptr);
  line_ended_.Notify();
}

loop::Task<> NatsBus::KeepConnected() {
  for (;;) {
    while (has_line()) co_await line_ended_.Next();
    LogWarn("nats.disconnected");
    for (Result<> result = co_await Connect(); !result; result = co_await Connect()) {
      LogDebug("nats.connect_failed", {{"reason", result.error().message}});
      co_await loop::Sleep(loop_, kReconnectWait);
    }
    LogInfo("nats.connected");
  }
}

void NatsBus::Publish(const ExecutorRecord& record) {
  registry_.Put(record);
  if (record.waiting > 0) {
    requests_.Take(record.id);
  } else {
    requests_.Leave(record.id);
  }
}

void NatsBus::Withdraw(const std::string& id) {
  registry_.Remove(id);
  requests_.Leave(id);
}

// A pipe that is closed before it has begun refuses the request.
void NatsBus::AnswerRequest(const std::string& id, std::string_view name) {
  const auto pipe = OpenPipe(name, "e", "c");
  if (node_->JoinWaiting(id, pipe) == Node::Joined::kYes) {
    pipe->Begin();
  } else {
    pipe->Close();
  }
}

std::shared_ptr<NatsPipe> NatsBus::OpenPipe(std::string_view name, std::string_view listens, std::string_view sends) {
  const std::string subject = fmt::format("{}.pipe.{}.", settings_.subject_prefix, name);
  return NatsPipe::Open(loop_, line_, {subject + std::string(listens), subject + std::string(sends)}, settings_.pipes);
}

// A node that refuses has just lost its last waiting connection; another may have one.
loop::Task<Result<std::shared_ptr<Pipe>>> NatsBus::Join(std::string id) {
  loop::Deadline limit(loop_, kJoinLimit);
  for (int attempt = 0; attempt < kJoinAttempts && !limit.passed(); ++attempt) {
    if (!has_line()) co_return Fail(ErrorKind::kDisconnected, "there is no connection to NATS");
    const std::string name = RandomUuid();
    const auto pipe = OpenPipe(name, "c", "e");
    pipe->Call(requests_.SubjectOf(id), name);
    while (pipe->answer() == NatsPipe::Answer::kNoneYet && !limit.passed()) {
      co_await pipe->answered().NextBefore(limit);
    }
    switch (pipe->answer()) {
      case NatsPipe::Answer::kJoined:
        pipe->Begin();
        co_return pipe;
      case NatsPipe::Answer::kNobody:
        co_return Fail(ErrorKind::kNotFound, "no other node has a waiting connection of the executor " + id);
      case NatsPipe::Answer::kNoneYet:
        pipe->Close();
        co_return Fail(ErrorKind::kTimeout, "no other node has answered the request for the executor " + id);
      case NatsPipe::Answer::kRefused:
      case NatsPipe::Answer::kLost:
        break;
    }
  }
  co_return Fail(ErrorKind::kNotFound, "no other node has a waiting connection of the executor " + id + " any more");
}

}  // namespace

Result<std::unique_ptr<Bus>> MakeNatsBus(loop::EventLoop& loop, NatsSettings settings) {
  TRY(std::vector<std::string> urls, CheckedUrls(settings));
  TRY(const NatsLibrary* library, NatsLibrary::Load());
  return std::make_unique<NatsBus>(loop, *library, std::move(settings), std::move(urls));
}

}  // namespace holdfast::rendezvous
