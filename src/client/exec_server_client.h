// The client of an exec-server: one session, with its processes, files and HTTP requests.
//
//   loop::Task<Result<>> Hello(loop::EventLoop& loop) {
//     auto client = co_await client::ExecServerClient::Connect(loop, {.url = url_that_the_server_prints});
//     if (!client) co_return std::unexpected(client.error());
//     auto process = co_await client->Start({.argv = {"/bin/echo", "hello"}});
//     if (!process) co_return std::unexpected(process.error());
//     auto completed = co_await (*process)->Communicate("");
//     co_await client->Close();
//     ...
//   }
//
// When the connection is lost, the library dials again and continues the session, and calls wait meanwhile. A call
// that the server may or may not have carried out, and that must not happen twice, fails with kDisconnected instead.
// Each call has a time limit, and ends early when the scope of its task ends. Everything happens on the loop's thread;
// blocking.h has the same for programs without a loop.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "client/connect_options.h"
#include "client/files.h"
#include "client/http.h"
#include "client/process.h"
#include "client/session.h"
#include "loop/event_loop.h"
#include "loop/task.h"
#include "wire/session_messages.h"

namespace holdfast::client {

class ExecServerClient {
 public:
  // Dials and does the handshake. The loop must outlive the client and its processes, and must run until the connection
  // has ended. So a task that is about to stop the loop awaits Close first.
  static loop::Task<Result<ExecServerClient>> Connect(loop::EventLoop& loop, ConnectOptions options);
  // The same over connections that `dialer` makes; options.url is not used.
  static loop::Task<Result<ExecServerClient>> ConnectBy(loop::EventLoop& loop, std::unique_ptr<Dialer> dialer,
                                                        ConnectOptions options);

  ExecServerClient(ExecServerClient&&) noexcept = default;
  ExecServerClient& operator=(ExecServerClient&&) noexcept;
  ~ExecServerClient();  // closes the connection without waiting for its end, which needs the loop

  // Calls any method of the protocol: `co_await client.Call<wire::ProcessList>({})`.
  template <typename Method>
  loop::Task<Result<typename Method::Result>> Call(typename Method::Params params, CallOptions options = {}) {
    return session_->Call<Method>(std::move(params), options);
  }
  // Calls a method by its name, with params and a result that are JSON texts.
  loop::Task<Result<std::string>> CallText(std::string method, std::string params, CallOptions options = {});

  // Starts a process. If the connection is lost before the answer, the library finds out whether the server has
  // started it, and sends the request again if it has not; docs/CLIENT.md says within which limits. A start that is
  // not answered in time, or whose task ends first, is cancelled on the server.
  loop::Task<Result<std::shared_ptr<Process>>> Start(StartOptions options);
  // Follows a process that exists already, because the session was resumed or is shared. Its events begin behind
  // `after_seq`.
  loop::Task<Result<std::shared_ptr<Process>>> Attach(std::string process_id, uint64_t after_seq = 0,
                                                      Backlog backlog = {});

  Files files() const { return Files(session_); }
  Http http() const { return Http(session_); }

  const std::string& session_id() const { return session_->id(); }
  // The machine of the server; servers before 0.142 do not describe it.
  const std::optional<wire::EnvironmentInfo>& environment() const { return session_->traits().environment; }
  // The part that this client has in a shared session; nothing in any other.
  std::optional<wire::SessionRole> role() const { return session_->role(); }
  // Makes this client the driver of its shared session.
  loop::Task<Result<>> TakeOver();
  Session& session() const { return *session_; }

  // Closes the connection and waits for its end. Calls under way fail with kDisconnected.
  loop::Task<> Close();

 private:
  explicit ExecServerClient(std::shared_ptr<Session> session) : session_(std::move(session)) {}

  std::shared_ptr<Session> session_;
};

}  // namespace holdfast::client
