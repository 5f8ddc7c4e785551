// The real program as a node and as executors, with clients of the test.
#pragma once

#include <list>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "base/sha256.h"
#include "support/eventually.h"
#include "support/message.h"
#include "support/rpc_client.h"
#include "support/scratch_dir.h"
#include "support/server_process.h"
#include "support/test_socket.h"
#include "support/web_socket_client.h"

namespace holdfast::rendezvous {

struct HttpReply {
  int status = 0;
  std::string head, body;
};

class NodeFixture : public testing::Test {
 protected:
  using Process = support::ServerProcess;

  // Tokens that no log may contain.
  static constexpr const char *kFarm = "farm-token-0123", *kAlice = "alice-token-4567", *kBob = "bob-token-89ab";

  static std::string Entry(std::string_view role, std::string_view token, std::string_view more) {
    return fmt::format("[[{}]]\ntoken_sha256 = \"{}\"\n{}\n", role, Sha256Hex(token), more);
  }
  static std::string UsualTokens() {
    return Entry("executor", kFarm, "ids = [\"build-*\"]") + Entry("client", kAlice, "ids = [\"build-*\"]") +
           Entry("client", kBob, "ids = [\"test-*\"]");
  }
  std::string WriteTokens(const std::string& text) const { return dir_.Write("tokens.toml", text, 0600); }

  // All processes end before the first of them is destroyed, because each looks for processes that are left over.
  void TearDown() override {
    for (Process& process : processes_) {
      if (process.pid() > 0) process.Stop();
    }
  }

  Process& StartNode(std::vector<std::string> more = {}, const std::string& address = "127.0.0.1:0") {
    more.insert(more.begin(), {"rendezvous", "--listen", address, "--tokens", tokens_file_, "--log-level", "debug"});
    processes_.push_back(Process::StartAs(more));
    url_ = processes_.back().url();
    return processes_.back();
  }
  // The address of the latest node, IP:PORT.
  std::string address() const { return url_.substr(url_.find("//") + 2); }

  Process& StartExecutor(const std::string& id, std::vector<std::string> more = {}) {
    return Executor({"--executor-id", id, "--name", "name of " + id}, std::move(more));
  }
  Process& StartEnvironment(const std::string& id) { return Executor({"--environment-id", id}, {}); }
  // Offers the server at `server_url` as the executor `id`.
  Process& StartForwarder(const std::string& id, const std::string& server_url) {
    return LaunchWithToken({"exec-server", "forward", "--connect", server_url, "--remote", url_, "--executor-id", id});
  }

  std::string ClientUrl(const std::string& id, std::string_view token = kAlice) const {
    return fmt::format("ws://{}/executors/{}?token={}", address(), id, token);
  }
  support::RpcClient Client(const std::string& id) const { return support::RpcClient::Ready(ClientUrl(id)); }

  HttpReply Send(const std::string& request) const {
    auto socket = support::TestSocket::Connect("ws://" + address());
    EXPECT_TRUE(socket.Send(request));
    const std::string text = socket.ReceiveAll().value_or("");
    HttpReply reply;
    const size_t end = text.find("\r\n\r\n");
    if (!text.starts_with("HTTP/1.1 ") || end == std::string::npos) return reply;
    reply.status = std::stoi(text.substr(9, 3));
    reply.head = text.substr(0, end + 2);
    reply.body = text.substr(end + 4);
    return reply;
  }
  static std::string Bearer(std::string_view token) {
    return token.empty() ? "" : fmt::format("Authorization: Bearer {}\r\n", token);
  }
  HttpReply Get(const std::string& target, std::string_view token = "") const {
    return Send(fmt::format("GET {} HTTP/1.1\r\nHost: {}\r\n{}\r\n", target, address(), Bearer(token)));
  }
  HttpReply Post(const std::string& target, std::string_view token, const std::string& body = "{}") const {
    return Send(fmt::format("POST {} HTTP/1.1\r\nHost: {}\r\n{}Content-Length: {}\r\n\r\n{}", target, address(),
                            Bearer(token), body.size(), body));
  }
  // Asks for an upgrade that is refused.
  HttpReply Upgrade(const std::string& target, std::string_view token) const {
    return Send(support::WebSocketClient::UpgradeRequest(target, Bearer(token)));
  }
  // Returns the URL to which an executor connects that has registered.
  std::string Register(const std::string& id) const {
    return support::Message(Post("/cloud/executor/" + id + "/register", kFarm).body).Text("url");
  }

  bool AwaitConnections(size_t executors) const {
    return support::Eventually([&] {
      const support::Message list(Get("/executors", kAlice).body);
      return list.Size("executors") == executors;
    });
  }

  const support::ScratchDir dir_;
  const std::string tokens_file_ = WriteTokens(UsualTokens());
  std::string url_;
  std::list<Process> processes_;

 private:
  Process& Executor(std::vector<std::string> words, std::vector<std::string> more) {
    words.insert(words.begin(), {"exec-server", "--remote", url_, "--sandbox-check=false", "--log-level", "debug"});
    words.insert(words.end(), more.begin(), more.end());
    return LaunchWithToken(words);
  }
  Process& LaunchWithToken(const std::vector<std::string>& words) {
    processes_.push_back(Process::Launch(words, {fmt::format("CODEX_EXEC_SERVER_REMOTE_BEARER_TOKEN={}", kFarm)}));
    return processes_.back();
  }
};

}  // namespace holdfast::rendezvous
