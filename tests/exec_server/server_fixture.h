// ServerFixture has everything of a server except its listener. Its connections have fake transports, and its processes
// are real.
#pragma once

#include <algorithm>
#include <csignal>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/log.h"
#include "exec_server/connection.h"
#include "exec_server/methods.h"
#include "exec_server/server_parts.h"
#include "exec_server/session/session_service.h"
#include "exec_server/session/session_table.h"
#include "loop/event_loop.h"
#include "process/spawner.h"
#include "rpc/fake_transport.h"
#include "support/loop_runner.h"
#include "support/message.h"
#include "sys/io.h"

namespace holdfast::exec_server {

using support::Message;

// A client is one connection and the messages that the server has sent on it.
struct Client {
  std::shared_ptr<rpc::FakeTransport> transport = std::make_shared<rpc::FakeTransport>();
  std::shared_ptr<Connection> connection;
  int next_id = 1;

  const std::vector<std::string>& sent() const { return transport->sent; }
  void Deliver(std::string_view message) { transport->Deliver(message); }

  // Sends a request and returns its id.
  int Ask(std::string_view method, std::string_view params) {
    const int id = next_id++;
    Deliver(fmt::format(R"({{"id":{},"method":"{}","params":{}}})", id, method, params));
    return id;
  }

  std::optional<Message> AnswerTo(int id) const {
    for (const std::string& text : sent()) {
      Message message(text);
      if (message.json().Find("id").int64() == id) return message;
    }
    return std::nullopt;
  }

  std::vector<Message> Notifications(std::string_view method) const {
    std::vector<Message> found;
    for (const std::string& text : sent()) {
      Message message(text);
      if (message.json().Find("method").string() == method) found.push_back(std::move(message));
    }
    return found;
  }

  bool Got(std::string_view method) const { return !Notifications(method).empty(); }
  void Forget() { transport->sent.clear(); }
};

class ServerFixture : public testing::Test {
 protected:
  void SetUp() override {
    ::signal(SIGPIPE, SIG_IGN);
    InitLog(LogLevel::kOff, LogFormat::kText);
    ASSERT_TRUE(sys::ReserveLowFds());
    auto spawner = process::Spawner::Create(loop_);
    ASSERT_TRUE(spawner);
    spawner_ = *std::move(spawner);
    Boot();
  }

  void TearDown() override {
    for (auto& client : clients_) client->transport->Disconnect();
    bool ended = false;
    sessions_->EndAll(std::chrono::milliseconds(0), [&] { ended = true; });
    EXPECT_TRUE(RunUntil([&] { return ended && spawner_->orphans() == 0; }));
  }

  // Makes the server with the present config_ and paths_. A test that changes them has to call it again.
  void Boot() {
    session_service_.reset();
    sessions_.reset();
    parts_ = std::make_unique<ServerParts>(loop_, *spawner_, config_, paths_);
    sessions_ = std::make_unique<SessionTable>(parts_->sessions);
    session_service_ = std::make_unique<SessionService>(*sessions_, *parts_->held);
    methods_ = std::make_unique<Methods>(MakeMethods(*parts_, *session_service_));
  }

  Client& Connect() {
    Client& client = *clients_.emplace_back(std::make_unique<Client>());
    const ConnectionContext context{.loop = loop_,
                                    .config = config_,
                                    .held = *parts_->held,
                                    .heap = parts_->heap,
                                    .environment_info = parts_->environment.info(),
                                    .sessions = *sessions_,
                                    .methods = *methods_,
                                    .sandbox_program = parts_->sandbox_program,
                                    .document = document_};
    client.connection = std::make_shared<Connection>(context, client.transport, [](Connection&) {});
    client.connection->Start();
    return client;
  }

  // Returns a client that has done the handshake, whose request has the id 0.
  Client& ConnectReady(std::string_view more_params = "") {
    Client& client = Connect();
    client.Deliver(fmt::format(R"({{"id":0,"method":"initialize","params":{{"clientName":"test"{}}}}})", more_params));
    client.Deliver(R"({"method":"initialized"})");
    return client;
  }

  bool RunUntil(const std::function<bool()>& done) { return support::RunUntil(loop_, done); }

  // Sends a request and waits for the answer.
  Message Call(Client& client, std::string_view method, std::string_view params) {
    const int id = client.Ask(method, params);
    EXPECT_TRUE(RunUntil([&] { return client.AnswerTo(id).has_value(); })) << method << " " << params;
    return client.AnswerTo(id).value_or(Message());
  }

  static std::string StartParams(std::string_view id, std::string_view script, std::string_view more = "") {
    return fmt::format(
        R"({{"processId":"{}","argv":["/bin/sh","-c",{}],"cwd":"/","env":{{"PATH":"/usr/bin:/bin"}},"tty":false{}}})",
        id, support::Quoted(script), more);
  }

  Message Start(Client& client, std::string_view id, std::string_view script, std::string_view more = "") {
    return Call(client, "process/start", StartParams(id, script, more));
  }

  static std::string Named(std::string_view id) { return fmt::format(R"({{"processId":"{}"}})", id); }

  loop::EventLoop loop_;
  Config config_;
  RuntimePaths paths_;
  std::unique_ptr<process::Spawner> spawner_;
  std::unique_ptr<ServerParts> parts_;
  std::unique_ptr<SessionTable> sessions_;
  std::unique_ptr<SessionService> session_service_;
  std::unique_ptr<Methods> methods_;
  wire::Document document_;
  std::vector<std::unique_ptr<Client>> clients_;
};

}  // namespace holdfast::exec_server
