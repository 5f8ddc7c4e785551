#include "client/session.h"

#include <algorithm>
#include <iterator>
#include <vector>

#include "loop/sleep.h"
#include "wire/decode.h"

namespace holdfast::client {
namespace {

using Clock = std::chrono::steady_clock;

// Returns whether a call has failed because of the connection, and not because the server has refused it.
bool IsCut(const Error& error) { return error.kind == ErrorKind::kDisconnected || error.kind == ErrorKind::kTimeout; }

void Append(RetainedOutput& retained, wire::ProcessReadResult answer) {
  for (wire::OutputChunk& chunk : answer.chunks) {
    retained.chunks.push_back({.seq = chunk.seq, .stream = chunk.stream, .bytes = std::move(chunk.chunk).Take()});
  }
  retained.next_seq = answer.next_seq;
  retained.exited = answer.exited;
  retained.closed = answer.closed;
  retained.exit_code = answer.exit_code.value_or(0);
  retained.sandbox_denied = answer.sandbox_denied;
  retained.end = answer.end ? answer.end->cause : std::nullopt;
}

loop::Task<> Approve(const Approver& approver, wire::ExecApproveParams question,
                     rpc::Reply<wire::ExecApproveResult> reply) {
  if (!approver) co_return reply({.decision = wire::ExecDecision::kDeny, .reason = "The client approves no commands"});
  reply(co_await approver(std::move(question)));
}

}  // namespace

Session::Session(loop::EventLoop& loop, std::unique_ptr<Dialer> dialer, ConnectOptions options)
    : loop_(loop), dialer_(std::move(dialer)), options_(std::move(options)), streams_(*this) {
  scope_.emplace();
}

Session::~Session() {
  if (connection_) connection_->Abandon();
}

loop::Task<Result<std::shared_ptr<Session>>> Session::Open(loop::EventLoop& loop, std::unique_ptr<Dialer> dialer,
                                                           ConnectOptions options) {
  auto session = std::make_shared<Session>(loop, std::move(dialer), std::move(options));
  auto transport = co_await session->dialer_->Dial();
  if (!transport) co_return std::unexpected(std::move(transport).error());
  auto greeted = co_await session->Handshake(session->Use(*std::move(transport)));
  if (!greeted) co_return std::unexpected(std::move(greeted).error());
  session->SetUp();
  co_return std::move(session);
}

Session::ConnectionPtr Session::Use(std::shared_ptr<rpc::Transport> transport) {
  if (connection_) connection_->Abandon();
  connection_ = Connection::Start(loop_, std::move(transport), *this, ++last_number_);
  return connection_;
}

void Session::SetUp() {
  phase_ = Phase::kUp;
  AdjustReading();
  changed_.Notify();
}

// A shared session is resumed by its id like any other.
wire::InitializeParams Session::Greeting() const {
  wire::InitializeParams params;
  params.client_name = options_.client_name;
  params.resume_session_id = id_.empty() ? options_.resume_session_id : id_;
  params.sharing.role = role_.wanted();
  if (!options_.session || !id_.empty()) return params;
  params.sharing.role = options_.session->role;
  if (params.resume_session_id) return params;
  params.sharing.session_name = options_.session->name;
  params.sharing.shared = true;
  if (const auto ttl = options_.session->detached_ttl) params.sharing.detached_ttl_ms = ttl->count();
  return params;
}

loop::Task<Result<>> Session::Handshake(ConnectionPtr connection) {
  auto greeting = co_await connection->peer().Call<wire::Initialize>(Greeting(), options_.connect_timeout);
  if (!greeting) co_return std::unexpected(std::move(greeting).error());
  connection->peer().Notify<wire::Initialized>({});
  if (role_.OnGreeted(greeting->role) == OwnRole::Change::kDemoted) TellOfDemotion();
  const bool resumed = !std::exchange(id_, std::move(greeting->session_id)).empty();
  if (resumed) co_return Result<>();
  co_return co_await LearnTraits(std::move(connection), std::move(greeting->environment_info));
}

void Session::TellOfDemotion() {
  const wire::SessionRoleChangedParams changed{.session_id = id_, .role = wire::SessionRole::kObserver};
  const std::string text = wire::Encode(changed);
  wire::Document document;
  if (notification_sink_) notification_sink_({wire::SessionRoleChanged::kName, *document.Parse(text)});
}

loop::Task<Result<>> Session::LearnTraits(ConnectionPtr connection, std::optional<wire::EnvironmentInfo> environment) {
  if (!environment) {
    auto answer = co_await connection->peer().Call<wire::GetEnvironmentInfo>({}, options_.connect_timeout);
    if (!answer && answer.error().kind != ErrorKind::kUnknownMethod) {
      co_return std::unexpected(std::move(answer).error());
    }
    traits_.has_environment_info = answer.has_value();
    if (answer) environment = *std::move(answer);
  }
  traits_.environment = std::move(environment);
  co_return Result<>();
}

std::chrono::milliseconds Session::TimeoutOf(const CallOptions& options) const {
  return options.timeout.value_or(options_.call_timeout);
}

loop::Task<Result<Session::ConnectionPtr>> Session::Connected(uint64_t lost, loop::Deadline& deadline) {
  while (phase_ != Phase::kEnded) {
    if (phase_ == Phase::kUp && connection_->number() > lost && connection_->usable()) co_return connection_;
    if (co_await changed_.NextBefore(deadline) == loop::Event::Woken::kByTime) {
      co_return Fail(ErrorKind::kTimeout, "there was no connection to the server in time");
    }
  }
  co_return std::unexpected(*ended_);
}

// A server that refuses the role refuses the call of the user as well, and that error says why.
loop::Task<Result<Session::ConnectionPtr>> Session::ConnectedToDrive(uint64_t lost, loop::Deadline& deadline) {
  while (true) {
    auto connection = co_await Connected(lost, deadline);
    if (!connection || !role_.regain()) co_return std::move(connection);
    const auto taken = co_await (*connection)->Call<wire::SessionTakeOver>({}, deadline.left());
    if (taken) role_.Set(taken->role);
    if (taken || taken.error().kind != ErrorKind::kDisconnected) co_return std::move(connection);
    lost = (*connection)->number();
  }
}

loop::Task<Result<std::string>> Session::CallText(std::string method, std::string params, CallOptions options) {
  const auto self = shared_from_this();
  loop::Deadline deadline(loop_, TimeoutOf(options));
  auto connection = co_await Connected(0, deadline);
  if (!connection) co_return std::unexpected(std::move(connection).error());
  co_return co_await (*connection)->CallText(std::move(method), std::move(params), deadline.left());
}

loop::Task<Result<>> Session::TakeOver() {
  const auto self = shared_from_this();
  const auto answer = co_await Call<wire::SessionTakeOver>({});
  if (!answer) co_return std::unexpected(answer.error());
  role_.Set(answer->role);
  co_return Result<>();
}

// An exit has a number but is in no chunk, so it is known only when all chunks are. Servers before 0.142 report the
// last number only in an answer without chunks; so the process is read until there are none.
loop::Task<Result<>> Session::CatchUp(ConnectionPtr connection, std::string process_id,
                                      std::shared_ptr<EventStream> stream) {
  const auto self = shared_from_this();
  stream->BeginCatchUp();
  RetainedOutput retained;
  uint64_t after_seq = stream->published();
  while (true) {
    wire::ProcessReadParams params;
    params.process_id = process_id;
    params.after_seq = after_seq;
    params.wait_ms = 0;
    auto answer = co_await connection->peer().Call<wire::ProcessRead>(std::move(params), options_.call_timeout);
    if (!answer) co_return std::unexpected(std::move(answer).error());
    const uint64_t last_seq = answer->chunks.empty() ? 0 : answer->chunks.back().seq;
    const bool complete = !answer->exited || last_seq <= after_seq;
    after_seq = std::max(after_seq, last_seq);
    Append(retained, *std::move(answer));
    if (complete) break;
  }
  stream->OnRetained(std::move(retained));
  if (stream->last()) streams_.Forget(process_id, *stream);
  co_return Result<>();
}

// Returns an error only if the connection does not work.
loop::Task<Result<>> Session::CatchUpAll(ConnectionPtr connection) {
  const auto self = shared_from_this();
  const auto certain = streams_.certain();
  for (const auto& [process_id, stream] : certain) {
    auto read = co_await CatchUp(connection, process_id, stream);
    if (read) continue;
    if (IsCut(read.error())) co_return std::move(read);
    stream->Fail(read.error());
    streams_.Forget(process_id, *stream);
  }
  co_return Result<>();
}

void Session::OnBacklog() {
  AdjustReading();
  for (auto& [process_id, stream] : streams_.wanting_retained()) {
    stream->BeginCatchUp();
    RunDetached(ReadLater(process_id, stream));
  }
}

loop::Task<> Session::ReadLater(std::string process_id, std::shared_ptr<EventStream> stream) {
  const auto self = shared_from_this();
  loop::Deadline deadline(loop_, options_.call_timeout);
  auto connection = co_await Connected(0, deadline);
  if (!connection) co_return;  // the session has ended, or a recovery will read
  const auto read = co_await CatchUp(*connection, process_id, stream);
  if (read || read.error().kind == ErrorKind::kDisconnected) co_return;  // a recovery reads what this call did not
  stream->Fail(read.error());
  streams_.Forget(process_id, *stream);
}

void Session::AdjustReading() {
  if (phase_ != Phase::kUp) return;
  const bool full = streams_.any_full() || http_bodies_.full();
  connection_->peer().SetReading(full ? rpc::Reading::kOff : rpc::Reading::kOn);
}

void Session::RunDetached(loop::Task<> task) {
  if (scope_) scope_->Start(std::move(task));
}

// An event resumes the task that waits for it, and the task may destroy the client and its processes. So the functions
// that deliver events keep the session alive until they return.
Result<> Session::OnOutput(const wire::OutputFrame& frame) {
  const auto self = shared_from_this();
  return streams_.OnOutput(frame);
}

Result<> Session::OnNotification(const rpc::Notification& notification) {
  const auto self = shared_from_this();
  TRY(const bool about_process, streams_.OnNotification(notification.method, notification.params));
  if (about_process) return {};
  if (notification.method == wire::HttpBodyDelta::kName) {
    TRY(auto delta, wire::Decode<wire::HttpBodyDeltaParams>(notification.params));
    http_bodies_.OnDelta(std::move(delta));
    AdjustReading();
    return {};
  }
  if (notification.method == wire::SessionRoleChanged::kName) {
    TRY(const auto changed, wire::Decode<wire::SessionRoleChangedParams>(notification.params));
    role_.Set(changed.role);
  }
  if (notification.method == wire::SessionEnded::kName) End({ErrorKind::kDisconnected, "the session was ended"});
  if (notification_sink_) notification_sink_(notification);
  return {};
}

void Session::OnRequest(const rpc::Request& request, rpc::PendingReply reply) {
  const auto self = shared_from_this();
  if (request.method != wire::ExecApprove::kName) {
    return reply.Fail({ErrorKind::kUnknownMethod, "this client has no method " + std::string(request.method)});
  }
  auto question = wire::Decode<wire::ExecApproveParams>(request.params);
  if (!question) return reply.Fail(question.error());
  RunDetached(Approve(options_.approver, *std::move(question), rpc::Reply<wire::ExecApproveResult>(std::move(reply))));
}

void Session::OnConnectionEnd(Connection& connection) {
  if (connection_.get() != &connection) return;
  const auto self = shared_from_this();
  connection_.reset();
  const bool was_up = phase_ == Phase::kUp;
  if (was_up) phase_ = Phase::kRecovering;  // before any task goes on, because kUp promises a connection
  http_bodies_.FailAll({ErrorKind::kDisconnected, "the connection has ended"});
  if (was_up && options_.on_connectivity) options_.on_connectivity(Connectivity::kLost);
  if (was_up) RunDetached(Recover());
  changed_.Notify();
}

loop::Task<> Session::Recover() {
  const auto self = shared_from_this();
  if (auto reason = dialer_->exhausted()) co_return End(*std::move(reason));
  Recovery recovery({.give_up = options_.recover_for}, Clock::now());
  while (const auto attempt = recovery.NextAttempt()) {
    co_await loop::Sleep(loop_, std::max(*attempt - Clock::now(), Clock::duration::zero()));
    recovery.Begin(Clock::now());
    auto transport = co_await dialer_->Dial();
    if (!transport) {
      recovery.OnUnreachable(transport.error());
      if (const auto reason = dialer_->exhausted()) recovery.OnRefused(*reason);
      continue;
    }
    auto connection = Use(*std::move(transport));
    auto outcome = co_await Handshake(connection);
    if (!outcome && !IsCut(outcome.error())) {
      recovery.OnRefused(outcome.error());
      continue;
    }
    if (outcome) outcome = co_await CatchUpAll(connection);
    if (outcome && !connection->ended()) {
      if (options_.on_connectivity) options_.on_connectivity(Connectivity::kRegained);
      co_return SetUp();
    }
    if (!outcome) recovery.OnUnreachable(outcome.error());
  }
  End(recovery.failure());
}

void Session::End(Error error) {
  if (phase_ == Phase::kEnded) return;
  const auto self = shared_from_this();
  phase_ = Phase::kEnded;
  ended_ = std::move(error);
  if (connection_) connection_->Close();
  streams_.FailAll(*ended_);
  http_bodies_.FailAll(*ended_);
  changed_.Notify();
  scope_.reset();
}

loop::Task<> Session::WaitForEnd() {
  const auto self = shared_from_this();
  while (connection_) co_await changed_.Next();
}

}  // namespace holdfast::client
