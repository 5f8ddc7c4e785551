// The fixture runs a server on a transport without a socket. Commands are real processes without a sandbox, and the
// interceptor of the fixture asks questions when a test wants it to.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "loop/event_loop.h"
#include "loop/scope.h"
#include "mcp/server.h"
#include "process/spawner.h"
#include "process/wrapped_command.h"
#include "rpc/fake_transport.h"
#include "sandbox/policy/permission_profile.h"
#include "sandbox/policy/sandbox_spec.h"
#include "support/loop_runner.h"
#include "support/message.h"
#include "support/proc.h"
#include "sys/io.h"

namespace holdfast::mcp {

// Runs commands as they are. For each call it asks the questions of the test, and notes the answers.
class AskingInterceptor final : public Interceptor {
 public:
  Result<InterceptedCommand> Begin(const process::Command& command, escalate::Approver& approver) override {
    if (refusal) return std::unexpected(*refusal);
    auto interception = std::make_unique<Asking>(*this);
    for (const escalate::Question& question : questions) interception->scope.Start(Ask(approver, question));
    return InterceptedCommand{command, std::move(interception)};
  }

  std::vector<escalate::Question> questions;
  std::optional<Error> refusal;
  std::vector<escalate::Answer> answers;
  int ended = 0;  // the number of interceptions that have ended

 private:
  struct Asking final : Interception {
    explicit Asking(AskingInterceptor& interceptor) : owner(interceptor) {}
    ~Asking() override { ++owner.ended; }

    AskingInterceptor& owner;
    loop::Scope scope;
  };

  loop::Task<> Ask(escalate::Approver& approver, escalate::Question question) {
    auto answer = co_await approver.Ask(std::move(question));
    answers.push_back(std::move(answer));
  }
};

class ServerFixture : public testing::Test {
 protected:
  static sandbox::SandboxSpec WithoutSandbox() {
    sandbox::SandboxSpec spec;
    spec.profile = sandbox::Unrestricted();
    spec.policy_cwd = "/server";
    return spec;
  }

  ServerFixture() {
    EXPECT_TRUE(sys::ReserveLowFds());
    auto spawner = process::Spawner::Create(loop_);
    EXPECT_TRUE(spawner) << spawner.error().message;
    spawner_ = *std::move(spawner);
    server_ =
        std::make_unique<Server>(ServerContext{.loop = loop_, .start = StartPlainly(), .interceptor = interceptor_},
                                 ServerSettings{.shell = "/bin/sh",
                                                .environment = {{"PATH", "/usr/bin:/bin"}},
                                                .sandbox = SandboxState("/server", WithoutSandbox())},
                                 transport_, [this] { over_ = true; });
    server_->Start();
  }

  // Starts each shell without a sandbox, and notes the sandbox that was asked for.
  StartInSandbox StartPlainly() {
    return [this](sandbox::SandboxedStart::Request request) {
      sandboxes_.push_back(request.sandbox.policy_cwd);
      auto begin = [this, command = *request.command](process::Stdio& stdio, process::CommandObserver& observer) {
        const process::StdioFds fds{stdio.child_in.get(), stdio.child_out.get(), stdio.child_err.get()};
        return process::StartUnderKeeper(loop_, *spawner_, command, process::Pipes(), fds, observer);
      };
      return process::WatchedStart{.begin = std::move(begin),
                                   .started_by = process::Life::StartedBy::kExecution,
                                   .program = request.command->program,
                                   .cwd = request.command->cwd};
    };
  }

  ~ServerFixture() override {
    transport_->Disconnect();
    EXPECT_TRUE(support::RunUntil(loop_, [&] { return over_; }));
    support::RunReady(loop_);  // destroys the calls that have ended
  }

  void Send(std::string_view message) { transport_->Deliver(message); }
  void Request(int id, std::string_view method, std::string_view params = "{}") {
    Send(fmt::format(R"({{"jsonrpc":"2.0","id":{},"method":"{}","params":{}}})", id, method, params));
  }

  void Initialize(std::string_view capabilities = R"({"elicitation":{}})") {
    Request(0, "initialize", fmt::format(R"({{"protocolVersion":"2025-06-18","capabilities":{}}})", capabilities));
    (void)Receive();
  }

  // Calls the tool; `more` are further arguments, each with a comma in front.
  void Call(int id, std::string_view script, std::string_view more = "", std::string_view meta = "{}") {
    Request(id, "tools/call",
            fmt::format(R"({{"name":"shell","arguments":{{"command":{},"workdir":"/","login":false{}}},"_meta":{}}})",
                        support::Quoted(script), more, meta));
  }

  // Returns the next message of the server.
  support::Message Receive() {
    EXPECT_TRUE(support::RunUntil(loop_, [&] { return transport_->sent.size() > received_; })) << "no message comes";
    if (transport_->sent.size() <= received_) return {};
    return support::Message(transport_->sent[received_++]);
  }

  // Returns what the text of a call's result contains.
  support::Message ReceiveResult(int id) {
    const support::Message answer = Receive();
    EXPECT_EQ(answer.Number("id"), id) << answer;
    EXPECT_FALSE(answer.Flag("result.isError")) << answer;
    return support::Message(answer.Text("result.content.0.text"));
  }

  size_t unread() const { return transport_->sent.size() - received_; }

  loop::EventLoop loop_;
  std::unique_ptr<process::Spawner> spawner_;
  AskingInterceptor interceptor_;
  std::vector<std::string> sandboxes_;  // the directories of the sandboxes that were asked for
  std::shared_ptr<rpc::FakeTransport> transport_ = std::make_shared<rpc::FakeTransport>();
  bool over_ = false;
  std::unique_ptr<Server> server_;
  size_t received_ = 0;
};

}  // namespace holdfast::mcp
