#include "remote/executor.h"

#include <random>
#include <utility>

#include "base/log.h"
#include "loop/sleep.h"
#include "transport/dial.h"

namespace holdfast::remote {
namespace {

uint64_t RandomNumber() {
  std::random_device device;
  return device();
}

}  // namespace

Executor::Executor(loop::EventLoop& loop, OfferedServer& server, ExecutorOptions options)
    : loop_(loop),
      server_(server),
      options_(std::move(options)),
      registry_(loop, options_.registrant, options_.token, options_.ca_file),
      back_off_(options_.registrant.form) {}

loop::Task<> Executor::Run() {
  for (Next next = Next::kDial; next != Next::kEnd && !server_.stopping();) {
    next = co_await Attempt();
    if (next == Next::kPause) co_await Pause();
  }
}

loop::Task<Executor::Next> Executor::Attempt() {
  if (!is_current_) {
    const Next next = co_await Register();
    if (next != Next::kDial) co_return next;
  }
  co_return co_await Serve();
}

loop::Task<Executor::Next> Executor::Register() {
  auto registered = co_await registry_.Register();
  if (server_.stopping()) co_return Next::kEnd;
  if (registered) {
    registration_ = *std::move(registered);
    is_current_ = true;
    if (options_.on_registered) options_.on_registered(*registration_);
    co_return Next::kDial;
  }
  if (Judge(registered.error(), registration_) == Verdict::kFatal) co_return End(registered.error().message);
  LogWarn("registry.failed", {{"reason", registered.error().message}});
  co_return Next::kPause;
}

loop::Task<Executor::Next> Executor::Serve() {
  const auto server = RendezvousServer(*registration_);
  // The rendezvous of a direct registration stays the same, and so does its fault.
  if (!server && options_.registrant.form == Form::kDirect) co_return End(server.error().message);
  if (!server) co_return OnUnconnected(server.error(), std::nullopt);
  std::optional<unsigned> status;
  transport::DialOptions options;
  options.ca_file = options_.ca_file;
  options.limits = server_.limits();
  options.on_refused = [&status](const transport::Refusal& refusal) { status = refusal.status; };
  auto dialled = co_await transport::Dial(loop_, *server, std::move(options));
  if (!dialled) co_return OnUnconnected(dialled.error(), status);
  back_off_.Reset();
  auto connection =
      std::make_shared<OfferedConnection>(*std::move(dialled), [changed = changed_] { changed->Notify(); });
  ForgetEnded();
  open_.push_back(connection);
  LogInfo("rendezvous.connected", {{"server", transport::NameOf(*server)}});
  server_.Serve(connection);
  co_return co_await UntilNextIsNeeded(std::move(connection));
}

Executor::Next Executor::OnUnconnected(const Error& error, std::optional<unsigned> status) {
  const Verdict verdict = JudgeConnect(options_.registrant.form, status);
  if (verdict == Verdict::kFatal) return End(error.message);
  if (verdict == Verdict::kRegisterAgain) is_current_ = false;
  LogWarn("rendezvous.unreachable", {{"reason", error.message}});
  return Next::kPause;
}

// A rendezvous for many clients joins one of them to each connection. As soon as the client speaks, the next client
// needs a connection to be joined to.
loop::Task<Executor::Next> Executor::UntilNextIsNeeded(Offered connection) {
  const bool has_successor = registration_->connections == Connections::kMany;
  while (!connection->ended()) {
    ForgetEnded();
    if (has_successor && connection->taken() && open_.size() < options_.max_connections) co_return Next::kDial;
    co_await changed_->Next();
  }
  co_return Next::kPause;
}

void Executor::ForgetEnded() {
  std::erase_if(open_, [](const Offered& connection) { return connection->ended(); });
}

loop::Task<> Executor::Pause() {
  if (options_.registrant.form == Form::kExecutor) is_current_ = false;
  const auto pause = back_off_.Next(RandomNumber());
  LogInfo("rendezvous.pause", {{"ms", pause.count()}});
  co_await loop::Sleep(loop_, pause);
}

Executor::Next Executor::End(std::string message) {
  outcome_ = Fail(ErrorKind::kDisconnected, std::move(message));
  server_.Shutdown();
  return Next::kEnd;
}

}  // namespace holdfast::remote
