// A Session is the client's end of one session of the server. When its connection is lost, it makes another one,
// resumes the session and fetches the events that were missed; calls wait meanwhile. The other classes share it.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "client/connect_options.h"
#include "client/connection.h"
#include "client/event_streams.h"
#include "client/http_bodies.h"
#include "client/recovery.h"
#include "client/server_traits.h"
#include "loop/event.h"
#include "loop/event_loop.h"
#include "loop/scope.h"
#include "loop/task.h"
#include "wire/methods.h"

namespace holdfast::client {

class Session final : public std::enable_shared_from_this<Session>, Connection::Owner, EventStreams::Owner {
 public:
  using ConnectionPtr = std::shared_ptr<Connection>;
  using NotificationSink = std::function<void(const rpc::Notification&)>;  // of those that the library leaves alone

  // Makes the first connection and does the handshake.
  static loop::Task<Result<std::shared_ptr<Session>>> Open(loop::EventLoop& loop, std::unique_ptr<Dialer> dialer,
                                                           ConnectOptions options);
  Session(loop::EventLoop& loop, std::unique_ptr<Dialer> dialer, ConnectOptions options);
  ~Session() override;

  // Calls a method. If the connection is lost, a repeatable method is called again; any other fails with kDisconnected.
  template <typename Method>
  loop::Task<Result<typename Method::Result>> Call(typename Method::Params params, CallOptions options = {}) {
    return CallOn<Method>(shared_from_this(), std::move(params), options);
  }
  loop::Task<Result<>> TakeOver();
  loop::Task<Result<std::string>> CallText(std::string method, std::string params, CallOptions options);

  // Waits for a connection with a number above `lost`; ToDrive, for a call that only the driver of a session may make.
  loop::Task<Result<ConnectionPtr>> Connected(uint64_t lost, loop::Deadline& deadline);
  loop::Task<Result<ConnectionPtr>> ConnectedToDrive(uint64_t lost, loop::Deadline& deadline);
  std::chrono::milliseconds TimeoutOf(const CallOptions& options) const;

  // Reads what a stream has missed.
  loop::Task<Result<>> CatchUp(ConnectionPtr connection, std::string process_id, std::shared_ptr<EventStream> stream);
  void RunDetached(loop::Task<> task);  // a task that nobody waits for; it ends with the session
  void Close() { End({ErrorKind::kDisconnected, "the client was closed"}); }  // ends every call, too
  loop::Task<> WaitForEnd();                                                  // of the connection, after Close

  const std::string& id() const { return id_; }
  const ServerTraits& traits() const { return traits_; }
  std::optional<wire::SessionRole> role() const { return role_.get(); }
  EventStreams& streams() { return streams_; }
  HttpBodies& http_bodies() { return http_bodies_; }
  loop::EventLoop& loop() const { return loop_; }
  void set_notification_sink(NotificationSink sink) { notification_sink_ = std::move(sink); }
  void AdjustReading();  // a queue has become full, or has room again

 private:
  template <typename Method>  // a task that has not begun keeps its session alive as an argument
  static loop::Task<Result<typename Method::Result>> CallOn(std::shared_ptr<Session> self,
                                                            typename Method::Params params, CallOptions options) {
    loop::Deadline deadline(self->loop_, self->TimeoutOf(options));
    for (uint64_t lost = 0;;) {
      auto connected = Method::kCaller == wire::Caller::kDriverOrObserver ? self->Connected(lost, deadline)
                                                                          : self->ConnectedToDrive(lost, deadline);
      auto connection = co_await std::move(connected);
      if (!connection) co_return std::unexpected(std::move(connection).error());
      auto answer = co_await (*connection)->template Call<Method>(params, deadline.left());
      const bool cut = !answer && answer.error().kind == ErrorKind::kDisconnected;
      if (!cut || !kRepeatable<Method>) co_return std::move(answer);
      lost = (*connection)->number();
    }
  }

  enum class Phase { kConnecting, kUp, kRecovering, kEnded };
  Result<> OnOutput(const wire::OutputFrame& frame) override;
  Result<> OnNotification(const rpc::Notification& notification) override;
  void OnRequest(const rpc::Request& request, rpc::PendingReply reply) override;
  void OnConnectionEnd(Connection& connection) override;
  void OnBacklog() override;

  wire::InitializeParams Greeting() const;
  loop::Task<Result<>> Handshake(ConnectionPtr connection);
  loop::Task<Result<>> LearnTraits(ConnectionPtr connection, std::optional<wire::EnvironmentInfo> environment);
  void TellOfDemotion();
  loop::Task<Result<>> CatchUpAll(ConnectionPtr connection);
  loop::Task<> ReadLater(std::string process_id, std::shared_ptr<EventStream> stream);
  loop::Task<> Recover();
  ConnectionPtr Use(std::shared_ptr<rpc::Transport> transport);
  void SetUp();
  void End(Error error);

  loop::EventLoop& loop_;
  const std::unique_ptr<Dialer> dialer_;
  const ConnectOptions options_;
  std::string id_;
  ServerTraits traits_;
  OwnRole role_;
  Phase phase_ = Phase::kConnecting;
  ConnectionPtr connection_;  // null without a connection
  uint64_t last_number_ = 0;
  std::optional<Error> ended_;
  EventStreams streams_;
  HttpBodies http_bodies_;
  NotificationSink notification_sink_;
  loop::Event changed_;
  std::optional<loop::Scope> scope_;
};

}  // namespace holdfast::client
