#include "client/exec_server_client.h"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "base/random_id.h"
#include "base/result.h"
#include "client/event_stream.h"
#include "client/process.h"
#include "client/session.h"
#include "client/url_dialer.h"
#include "loop/task.h"

namespace holdfast::client {
namespace {

using Clock = std::chrono::steady_clock;

// Published servers remember a process for 30 s after its end, those since 0.169 for 80 s, as ours does by default.
constexpr std::chrono::milliseconds kRemembered{10'000};

// Fails if there is a command in two forms, of which the server would see one.
Result<> CheckCommand(const StartOptions& options) {
  const StartOptions none;
  const bool has_direct =
      !options.argv.empty() || options.cwd != none.cwd || !options.env.empty() || options.env_policy || options.arg0;
  if (!options.prepared || !has_direct) return {};
  return Fail(ErrorKind::kInvalidParams,
              "prepared: argv, cwd, env, env_policy and arg0 have to be unset, or be a part of the prepared command");
}

Result<wire::ProcessStartParams> ParamsOf(const ServerTraits& traits, StartOptions options) {
  TRY_VOID(CheckCommand(options));
  wire::ProcessStartParams params;
  params.process_id = std::move(options.process_id);
  params.argv = std::move(options.argv);
  params.cwd = traits.PathText(options.cwd);
  params.env = std::move(options.env);
  params.env_policy = std::move(options.env_policy);
  params.arg0 = std::move(options.arg0);
  params.prepared = std::move(options.prepared);
  if (params.prepared) params.prepared->cwd = traits.PathText(params.prepared->cwd);
  params.tty = options.terminal.has_value();
  params.pipe_stdin = options.input == Stdin::kOpen;
  // Servers that do not know `io` ignore it, and go by `tty`.
  if (options.terminal) params.io.emplace().pty = wire::PtyIo{options.terminal->rows, options.terminal->cols};
  if (!options.sandbox.empty()) {
    TRY(params.sandbox, wire::Sandbox::FromJson(options.sandbox));
  }
  params.exec_policy = std::move(options.exec_policy);
  if (options.limits.wall_ms) params.limits = options.limits;
  return params;
}

// A server that does not know exec policies or limits would ignore them, and run the command without.
Result<> CheckServer(const ServerTraits& traits, const StartOptions& options) {
  const auto able = traits.environment ? traits.environment->capabilities : wire::EnvironmentCapabilities();
  if (options.exec_policy && !able.exec_policy) {
    return Fail(ErrorKind::kInvalidRequest, "this server cannot supervise commands by rules");
  }
  if (options.limits.wall_ms && std::ranges::find(able.limits, "wallMs") == able.limits.end()) {
    return Fail(ErrorKind::kInvalidRequest, "this server cannot limit the time of a command");
  }
  return {};
}

std::optional<std::chrono::milliseconds> TimeLimitOf(const Session& session, const StartOptions& options) {
  if (options.exec_policy && !options.call.timeout) return std::nullopt;
  return session.TimeoutOf(options.call);
}

// The stream of a process that is about to be started. It is forgotten unless the start succeeds.
class ExpectedStream {
 public:
  ExpectedStream(Session& session, std::string process_id, Backlog backlog)
      : session_(session),
        process_id_(std::move(process_id)),
        stream_(session.streams().Follow(process_id_, EventStreams::Existence::kExpected, backlog, 0)) {}
  ~ExpectedStream() {
    if (stream_) session_.streams().Forget(process_id_, *stream_);
  }
  ExpectedStream(const ExpectedStream&) = delete;
  ExpectedStream& operator=(const ExpectedStream&) = delete;

  const std::shared_ptr<EventStream>& stream() const { return stream_; }
  std::shared_ptr<EventStream> Keep() {
    session_.streams().SetCertain(process_id_);
    return std::move(stream_);
  }

 private:
  Session& session_;
  const std::string process_id_;
  std::shared_ptr<EventStream> stream_;
};

loop::Task<> Kill(std::shared_ptr<Session> session, std::string process_id) {
  wire::ProcessTerminateParams params;
  params.process_id = std::move(process_id);
  (void)co_await session->Call<wire::ProcessTerminate>(std::move(params));
}

// A start that was sent and whose outcome is not known. If its task ends like that, because the time is over, the
// connection does not come back or the task is cancelled, the process is killed: it may run, and nobody has its handle.
class UncertainStart {
 public:
  UncertainStart(std::shared_ptr<Session> session, std::string process_id)
      : session_(std::move(session)), process_id_(std::move(process_id)) {}
  ~UncertainStart() {
    if (sent_at_) session_->RunDetached(Kill(session_, process_id_));
  }
  UncertainStart(const UncertainStart&) = delete;
  UncertainStart& operator=(const UncertainStart&) = delete;

  void MarkSent() { sent_at_ = Clock::now(); }
  void Settle() { sent_at_.reset(); }  // the server has answered
  const std::optional<Clock::time_point>& sent_at() const { return sent_at_; }

 private:
  const std::shared_ptr<Session> session_;
  const std::string process_id_;
  std::optional<Clock::time_point> sent_at_;
};

// Returns whether an error leaves open what the server has done.
bool IsUncertain(const Error& error, const Connection& connection) {
  return error.kind == ErrorKind::kDisconnected || error.kind == ErrorKind::kTimeout || connection.refusal();
}

bool IsUnknownProcess(const Error& error) {
  return error.kind == ErrorKind::kInvalidRequest || error.kind == ErrorKind::kNotFound;
}

// If the connection is lost before the answer, the server is asked whether it knows the process. If it does, the
// process was started. If it does not, the request has not arrived and is sent again, but only within the time for
// which every server remembers a process that has ended.
loop::Task<Result<std::shared_ptr<Process>>> StartProcess(std::shared_ptr<Session> session, StartOptions options) {
  if (options.process_id.empty()) options.process_id = RandomUuid();
  const std::string id = options.process_id;
  if (session->streams().Follows(id))
    co_return Fail(ErrorKind::kInvalidRequest, "there is a process " + id + " already");
  const Stdin input = options.terminal ? Stdin::kOpen : options.input;
  ExpectedStream expected(*session, id, options.backlog);
  if (auto able = CheckServer(session->traits(), options); !able) co_return std::unexpected(able.error());
  loop::Deadline deadline(session->loop(), TimeLimitOf(*session, options));
  const auto params = ParamsOf(session->traits(), std::move(options));
  if (!params) co_return std::unexpected(params.error());
  UncertainStart start(session, id);
  for (uint64_t lost = 0;;) {
    auto connection = co_await session->ConnectedToDrive(lost, deadline);
    if (!connection) co_return std::unexpected(std::move(connection).error());
    lost = (*connection)->number();
    if (start.sent_at()) {
      const auto known = co_await session->CatchUp(*connection, id, expected.stream());
      if (known) break;
      if (known.error().kind == ErrorKind::kDisconnected) continue;
      if (!IsUnknownProcess(known.error())) co_return std::unexpected(known.error());
      if (Clock::now() - *start.sent_at() > kRemembered) {
        co_return Fail(ErrorKind::kDisconnected, "the connection was lost while " + id + " was started");
      }
    }
    start.MarkSent();
    const auto started = co_await (*connection)->Call<wire::ProcessStart>(*params, deadline.left());
    if (started) break;
    if (!IsUncertain(started.error(), **connection)) start.Settle();
    if (started.error().kind != ErrorKind::kDisconnected) co_return std::unexpected(started.error());
  }
  start.Settle();
  co_return std::make_shared<Process>(session, id, expected.Keep(), input);
}

// How a process comes to its handle: it is started, or it exists already.
loop::Task<Result<std::shared_ptr<Process>>> AttachProcess(std::shared_ptr<Session> session, std::string process_id,
                                                           uint64_t after_seq, Backlog backlog) {
  if (session->streams().Follows(process_id)) {
    co_return Fail(ErrorKind::kInvalidRequest, "this client follows the process " + process_id + " already");
  }
  auto stream = session->streams().Follow(process_id, EventStreams::Existence::kCertain, backlog, after_seq);
  auto process = std::make_shared<Process>(session, process_id, stream, Stdin::kOpen);
  loop::Deadline deadline(session->loop(), session->TimeoutOf({}));
  for (uint64_t lost = 0;;) {
    auto connection = co_await session->Connected(lost, deadline);
    if (!connection) co_return std::unexpected(std::move(connection).error());
    const auto read = co_await session->CatchUp(*connection, process_id, stream);
    if (read) co_return std::move(process);
    if (read.error().kind != ErrorKind::kDisconnected) co_return std::unexpected(read.error());
    lost = (*connection)->number();
  }
}

}  // namespace

loop::Task<Result<ExecServerClient>> ExecServerClient::Connect(loop::EventLoop& loop, ConnectOptions options) {
  auto dialer = MakeUrlDialer(loop, options);
  if (!dialer) co_return std::unexpected(std::move(dialer).error());
  co_return co_await ConnectBy(loop, *std::move(dialer), std::move(options));
}

loop::Task<Result<ExecServerClient>> ExecServerClient::ConnectBy(loop::EventLoop& loop, std::unique_ptr<Dialer> dialer,
                                                                 ConnectOptions options) {
  auto session = co_await Session::Open(loop, std::move(dialer), std::move(options));
  if (!session) co_return std::unexpected(std::move(session).error());
  co_return ExecServerClient(*std::move(session));
}

ExecServerClient& ExecServerClient::operator=(ExecServerClient&& other) noexcept {
  if (session_ && session_ != other.session_) session_->Close();
  session_ = std::move(other.session_);
  return *this;
}

ExecServerClient::~ExecServerClient() {
  if (session_) session_->Close();
}

loop::Task<Result<std::string>> ExecServerClient::CallText(std::string method, std::string params,
                                                           CallOptions options) {
  return session_->CallText(std::move(method), std::move(params), options);
}

loop::Task<Result<std::shared_ptr<Process>>> ExecServerClient::Start(StartOptions options) {
  return StartProcess(session_, std::move(options));
}

loop::Task<Result<std::shared_ptr<Process>>> ExecServerClient::Attach(std::string process_id, uint64_t after_seq,
                                                                      Backlog backlog) {
  return AttachProcess(session_, std::move(process_id), after_seq, backlog);
}

loop::Task<Result<>> ExecServerClient::TakeOver() { return session_->TakeOver(); }

loop::Task<> ExecServerClient::Close() {
  const auto session = session_;
  session->Close();
  co_await session->WaitForEnd();
}

}  // namespace holdfast::client
