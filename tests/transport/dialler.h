// A Dialler is a client for tests: a loop that runs on the test's thread while the test waits for something.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "loop/scope.h"
#include "support/loop_runner.h"
#include "transport/dial.h"
#include "transport/peer.h"

namespace holdfast::transport {

class Dialler {
 public:
  using Dialled = Result<std::shared_ptr<rpc::Transport>>;

  ~Dialler() { support::RunReady(loop_); }

  loop::EventLoop& loop() { return loop_; }

  // Begins to dial. The task ends when `scope` ends.
  void Begin(loop::Scope& scope, std::string_view url, DialOptions options, std::optional<Dialled>& outcome) {
    auto parsed = ParseServerUrl(url);
    if (!parsed) {
      outcome = std::unexpected(parsed.error());
    } else {
      scope.Start(Store(transport::Dial(loop_, *parsed, std::move(options)), outcome));
    }
  }

  Dialled Dial(std::string_view url, DialOptions options = {}) {
    loop::Scope scope;
    std::optional<Dialled> outcome;
    Begin(scope, url, std::move(options), outcome);
    if (!RunUntil([&] { return outcome.has_value(); })) return Fail(ErrorKind::kInternal, "the dial does not end");
    return *std::move(outcome);
  }

  // Dials, and starts the connection with a receiver that records what comes. Returns null if that fails.
  Peer* Connect(std::string_view url, DialOptions options = {}) {
    auto dialled = Dial(url, std::move(options));
    if (!dialled) ADD_FAILURE() << dialled.error().message;
    return dialled ? Attach(*std::move(dialled)) : nullptr;
  }

  Peer* Attach(std::shared_ptr<rpc::Transport> transport) {
    peers_.push_back(std::make_unique<Peer>(transport, Peer::OnMessageHook()));
    transport->Start(*peers_.back());
    return peers_.back().get();
  }

  // Returns the next message, or an empty text if none comes.
  std::string Receive(Peer& peer) {
    if (!RunUntil([&] { return peer.messages() > 0; })) return "";
    return peer.WaitForMessage();
  }

  bool AwaitClosed(Peer& peer) {
    return RunUntil([&] { return peer.transport() == nullptr; });
  }

  bool RunUntil(const std::function<bool()>& done) { return support::RunUntil(loop_, done); }

 private:
  static loop::Task<> Store(loop::Task<Dialled> dial, std::optional<Dialled>& outcome) {
    outcome = co_await std::move(dial);
  }

  loop::EventLoop loop_;
  std::vector<std::unique_ptr<Peer>> peers_;
};

}  // namespace holdfast::transport
