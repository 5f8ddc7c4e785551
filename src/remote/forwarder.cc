#include "remote/forwarder.h"

#include <utility>

#include "transport/dial.h"

namespace holdfast::remote {
namespace {

// Servers send files of up to 512 MiB in one message, and some of them in one frame.
constexpr size_t kMaxMessageBytes = 768u << 20;
constexpr size_t kMaxHeldBytes = 2 * kMaxMessageBytes;

}  // namespace

Forwarder::Forwarder(loop::EventLoop& loop, ForwardTarget target)
    : loop_(loop),
      target_(std::move(target)),
      held_(std::make_shared<loop::ByteBudget>(loop, loop::ByteBudget::Options{.bytes = kMaxHeldBytes})),
      workers_(loop, {.name = "forward-token", .usual_workers = 1, .max_workers = 4}) {}

transport::Limits Forwarder::limits() const {
  transport::Limits limits;
  limits.max_frame_bytes = limits.max_message_bytes = kMaxMessageBytes;
  limits.budget = held_;
  return limits;
}

void Forwarder::Serve(std::shared_ptr<rpc::Transport> connection) {
  const rpc::Transport* const client = connection.get();
  auto forwarded = std::make_unique<ForwardedConnection>(
      std::move(connection), *held_, [this] { return DialServer(); }, [this, client] { Forget(client); });
  ForwardedConnection& added = *(connections_[client] = std::move(forwarded));
  added.Start();
  if (stopping_) added.Close();
}

loop::Task<ForwardedConnection::Dialled> Forwarder::DialServer() {
  transport::DialOptions options;
  options.ca_file = target_.ca_file;
  options.limits = limits();
  if (!target_.token_file.empty()) {
    const auto token = co_await workers_.Do([file = target_.token_file] { return ReadToken({.file = file}); });
    if (!token) co_return std::unexpected(token.error());
    options.headers.emplace_back("Authorization", "Bearer " + *token);
  }
  co_return co_await transport::Dial(loop_, target_.server, std::move(options));
}

// The connection calls this, so it is destroyed in a turn of its own.
void Forwarder::Forget(const rpc::Transport* client) {
  const auto found = connections_.find(client);
  loop_.Post([ended = std::move(found->second)]() mutable { ended.reset(); });
  connections_.erase(found);
  StopWhenEmpty();
}

void Forwarder::Shutdown() {
  if (std::exchange(stopping_, true)) return;
  for (const auto& [client, connection] : connections_) connection->Close();
  StopWhenEmpty();
}

void Forwarder::StopWhenEmpty() {
  if (stopping_ && connections_.empty()) loop_.Stop();
}

}  // namespace holdfast::remote
