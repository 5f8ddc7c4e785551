// A client of a scripted server, on a loop that the test runs.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "client/exec_server_client.h"
#include "client/scripted_server.h"
#include "loop/event_loop.h"
#include "loop/scope.h"
#include "support/loop_runner.h"

namespace holdfast::client {

inline std::string Text(const ProcessEvent& event) {
  if (const auto* output = std::get_if<Output>(&event)) return output->bytes;
  if (const auto* exited = std::get_if<Exited>(&event)) return fmt::format("exit {}", exited->exit_code);
  if (const auto* lost = std::get_if<Lost>(&event)) return fmt::format("lost {}-{}", lost->from_seq, lost->to_seq);
  if (const auto* failed = std::get_if<Failed>(&event)) return "failed: " + failed->error.message;
  return "closed";
}

// The outcome of a task that runs while the test goes on.
template <typename T>
using Pending = std::shared_ptr<std::optional<T>>;

class ClientTest : public testing::Test {
 protected:
  // A connection lives until it has ended, whatever becomes of its client.
  void TearDown() override {
    scope_.reset();
    server_.Cut();
  }

  ExecServerClient Connect(ConnectOptions options = {}) {
    auto client = Run(ExecServerClient::ConnectBy(loop_, server_.MakeDialer(), std::move(options)));
    EXPECT_TRUE(client) << client.error().message;
    return *std::move(client);
  }
  std::shared_ptr<Process> Start(ExecServerClient& client, StartOptions options = {}) {
    if (options.process_id.empty()) options.process_id = "p";
    options.argv = {"/bin/true"};
    server_.Answer("process/start", R"({"processId":"p","sandboxType":"none"})");
    auto process = Run(client.Start(std::move(options)));
    EXPECT_TRUE(process) << process.error().message;
    return *std::move(process);
  }

  // Runs a task to its end.
  template <typename T>
  T Run(loop::Task<T> task) {
    auto outcome = Begin(std::move(task));
    EXPECT_TRUE(support::RunUntil(loop_, [&] { return outcome->has_value(); }));
    return std::move(**outcome);
  }
  // Starts a task, and runs what is ready.
  template <typename T>
  Pending<T> Begin(loop::Task<T> task) {
    auto outcome = std::make_shared<std::optional<T>>();
    scope_->Start(Keep(std::move(task), outcome));
    support::RunReady(loop_);
    return outcome;
  }
  bool RunUntil(const std::function<bool()>& done) { return support::RunUntil(loop_, done); }
  void RunReady() { support::RunReady(loop_); }

  // Takes the events of a process up to its end.
  std::vector<std::string> TakeAll(Process& process) {
    std::vector<std::string> taken;
    while (true) {
      const ProcessEvent event = Run(process.NextEvent());
      taken.push_back(Text(event));
      if (IsLast(event)) return taken;
    }
  }

  template <typename T>
  static loop::Task<> Keep(loop::Task<T> task, Pending<T> outcome) {
    outcome->emplace(co_await std::move(task));
  }

  loop::EventLoop loop_;
  ScriptedServer server_{loop_};
  std::optional<loop::Scope> scope_{std::in_place};
};

}  // namespace holdfast::client
