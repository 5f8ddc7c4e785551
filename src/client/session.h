// A Session is the client's end of one session of the server. It owns the connection, and when the connection is lost,
// it makes another one, resumes the session and fetches the events that were missed. Meanwhile calls wait. The parts of
// the library that callers use (ExecServerClient, Process, Files, Http) share it.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "client/connect_options.h"
#include "client/connection.h"
#include "client/event_stream.h"
#include "client/http_bodies.h"
#include "client/recovery.h"
#include "client/server_traits.h"
#include "loop/event.h"
#include "loop/event_loop.h"
#include "loop/scope.h"
#include "loop/task.h"
#include "wire/methods.h"

namespace holdfast::client {

// Methods of which a second execution changes nothing. When the connection is lost, they are called again.
template <typename Method>
constexpr bool kRepeatable = Method::kCaller == wire::Caller::kAnyone;
template <>
inline constexpr bool kRepeatable<wire::ProcessCloseStdin> = true;
template <>
inline constexpr bool kRepeatable<wire::ProcessResize> = true;
template <>
inline constexpr bool kRepeatable<wire::ProcessTerminate> = true;

class Session final : public std::enable_shared_from_this<Session>, Connection::Owner, EventStream::Owner {
 public:
  // Notifications that the library does not deal with itself.
  using OnNotification = std::function<void(const rpc::Notification&)>;

  static loop::Task<Result<std::shared_ptr<Session>>> Open(loop::EventLoop& loop, std::unique_ptr<Dialer> dialer,
                                                           ConnectOptions options);
  Session(loop::EventLoop& loop, std::unique_ptr<Dialer> dialer, ConnectOptions options);
  ~Session() override;

  template <typename Method>
  loop::Task<Result<typename Method::Result>> Call(typename Method::Params params, CallOptions options = {});
  loop::Task<Result<std::string>> CallText(std::string method, std::string params, CallOptions options);

  // Waits for a connection that is attached to the session and whose number is above `after`.
  loop::Task<Result<std::shared_ptr<Connection>>> Connected(uint64_t after, loop::Deadline& deadline);
  std::chrono::milliseconds TimeoutOf(const CallOptions& options) const;

  // Directs the events of a process to a stream until the stream ends or is forgotten. A process that is kExpected
  // may be unknown to the server.
  enum class Existence { kExpected, kCertain };
  std::shared_ptr<EventStream> Follow(const std::string& process_id, Existence existence, Backlog backlog,
                                      uint64_t after_seq);
  void SetCertain(const std::string& process_id);
  void Forget(const std::string& process_id);
  // Reads what the stream has missed.
  loop::Task<Result<>> CatchUp(std::shared_ptr<Connection> connection, std::string process_id,
                               std::shared_ptr<EventStream> stream);

  void Close();
  loop::Task<> WaitForEnd();

  const std::string& id() const { return id_; }
  const std::optional<wire::EnvironmentInfo>& environment() const { return traits_.environment; }
  const ServerTraits& traits() const { return traits_; }
  HttpBodies& http_bodies() { return http_bodies_; }
  loop::EventLoop& loop() const { return loop_; }
  void set_on_notification(OnNotification call) { on_notification_ = std::move(call); }

 private:
  enum class Phase { kConnecting, kUp, kRecovering, kEnded };
  struct Followed {
    std::shared_ptr<EventStream> stream;
    Existence existence;
  };

  loop::Task<Result<>> Attach();
  loop::Task<> Recover();

  loop::EventLoop& loop_;
  std::unique_ptr<Dialer> dialer_;
  const ConnectOptions options_;
  std::string id_;
  ServerTraits traits_;
  Phase phase_ = Phase::kConnecting;
  std::shared_ptr<Connection> connection_;  // null without a connection
  uint64_t last_connection_ = 0;
  std::optional<Error> ended_;
  std::map<std::string, Followed, std::less<>> followed_;
  HttpBodies http_bodies_;
  OnNotification on_notification_;
  loop::Event changed_;
  loop::Scope scope_;
};

}  // namespace holdfast::client
