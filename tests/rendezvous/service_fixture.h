// A service whose requests, connections and other nodes are made up by the test.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "base/sha256.h"
#include "loop/event_loop.h"
#include "rendezvous/fake_bus.h"
#include "rendezvous/fake_call.h"
#include "rendezvous/fake_neighbours.h"
#include "rendezvous/fake_pipe.h"
#include "rendezvous/service.h"
#include "support/loop_runner.h"
#include "support/message.h"

namespace holdfast::rendezvous {

class ServiceFixture : public testing::Test {
 protected:
  static constexpr const char* kTokens = "executor:farm build-*;executor:lone x;client:alice build-*;client:bob x,y";

  // Makes a table of entries such as "client:TOKEN ID,ID".
  static TokenTable Tokens(std::string_view entries, std::string_view more = "") {
    std::string text;
    while (!entries.empty()) {
      const std::string_view entry = entries.substr(0, entries.find(';'));
      entries.remove_prefix(std::min(entry.size() + 1, entries.size()));
      const size_t colon = entry.find(':'), blank = entry.find(' ');
      std::string ids(entry.substr(blank + 1));
      for (size_t comma; (comma = ids.find(',')) != std::string::npos;) ids.replace(comma, 1, "\"\x01\"");
      for (char& c : ids) {
        if (c == '\x01') c = ',';
      }
      text += fmt::format("[[{}]]\ntoken_sha256 = \"{}\"\nids = [\"{}\"]\n{}\n", entry.substr(0, colon),
                          Sha256Hex(entry.substr(colon + 1, blank - colon - 1)), ids, more);
    }
    auto table = TokenTable::Parse(text, "tokens.toml");
    EXPECT_TRUE(table) << table.error().message;
    return *std::move(table);
  }

  ServiceOptions Options() {
    return {.public_url = PublicUrl::OfRequests(transport::Security::kPlain, "10.0.0.1:80"),
            .accept =
                [this](transport::UpgradedSocket, std::function<void()> on_ended) {
                  pipes_.push_back(std::make_shared<FakePipe>());
                  on_ended_.push_back(std::move(on_ended));
                  return pipes_.back();
                },
            .search = {.longest = std::chrono::milliseconds(100), .interval = std::chrono::milliseconds(5)},
            .silence = std::chrono::milliseconds(100)};
  }

  using Exchange = std::shared_ptr<FakeExchange>;

  Exchange Send(std::string method, std::string path, std::string_view token = "", std::string body = "") {
    auto exchange = std::make_shared<FakeExchange>();
    const size_t question = path.find('?');
    exchange->request.method = std::move(method);
    exchange->request.path = path.substr(0, question);
    if (question != std::string::npos) exchange->request.query = path.substr(question + 1);
    exchange->request.headers.emplace_back("Host", "rv.example:8080");
    if (!token.empty()) exchange->request.headers.emplace_back("Authorization", fmt::format("Bearer {}", token));
    exchange->request.body = std::move(body);
    return Send(exchange);
  }
  Exchange Send(Exchange exchange) {
    service_.Serve(std::make_unique<FakeCall>(exchange));
    return exchange;
  }

  // Registers and returns the path of the URL to connect to; empty if the executor is refused.
  std::string Register(const std::string& id, std::string_view token) {
    const Exchange exchange = Send("POST", "/cloud/executor/" + id + "/register", token, "{\"name\":\"N\"}");
    if (exchange->status() != 200) return "";
    const std::string url = support::Message(exchange->answer->body).Text("url");
    return url.substr(url.find("/rendezvous/"));
  }
  // Registers and connects. Returns the connection.
  std::shared_ptr<FakePipe> Connect(const std::string& id, std::string_view token) {
    EXPECT_TRUE(Send("GET", Register(id, token))->upgraded);
    return pipes_.back();
  }
  bool Await(const std::function<bool()>& done) { return support::RunUntil(loop_, done); }
  std::string MetricsNow() { return Send("GET", "/metrics", "alice")->answer->body; }

  loop::EventLoop loop_;
  FakeBus bus_;
  FakeNeighbours neighbours_;
  std::vector<std::shared_ptr<FakePipe>> pipes_;  // in the order of their upgrades
  std::vector<std::function<void()>> on_ended_;
  Service service_{loop_, bus_, neighbours_, Tokens(kTokens), Options()};
};

}  // namespace holdfast::rendezvous
