// A server without sockets, for tests of the client. Each method answers what the test has told it to; a method without
// an answer leaves its requests open. The test sends notifications, and cuts the connection where it likes.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "client/connect_options.h"
#include "loop/event_loop.h"
#include "rpc/transport.h"
#include "support/message.h"

namespace holdfast::client {

class ScriptedServer {
 public:
  // The answer is `"result":…` or `"error":…`; nothing leaves the request open.
  using Handler = std::function<std::optional<std::string>(const support::Message& request)>;

  explicit ScriptedServer(loop::EventLoop& loop) : loop_(loop) {
    Answer("initialize", R"({"sessionId":"S","environmentInfo":{"shell":{"name":"sh","path":"/bin/sh"},)"
                         R"("capabilities":{"fileWriteStreaming":true}}})");
  }

  std::unique_ptr<Dialer> MakeDialer() { return std::make_unique<ScriptedDialer>(*this); }

  void Handle(const std::string& method, Handler handler) { handlers_[method] = std::move(handler); }
  void Answer(const std::string& method, const std::string& result) {
    Handle(method, [result](const support::Message&) { return R"("result":)" + result; });
  }
  void Refuse(const std::string& method, int code, const std::string& message) {
    const std::string error = fmt::format(R"("error":{{"code":{},"message":"{}"}})", code, message);
    Handle(method, [error](const support::Message&) { return error; });
  }
  void LeaveOpen(const std::string& method) { handlers_.erase(method); }

  // Dials fail until this is called with false.
  void SetReachable(bool reachable) { reachable_ = reachable; }

  // After this every dial fails, and the dialer is exhausted.
  void Exhaust(Error reason) { exhausted_ = std::move(reason); }

  // These send to the connection that was made last.
  void Send(std::string_view message) {
    if (connected()) receiver_->OnMessage(message);
  }
  void SendOutput(std::string_view id, int seq, std::string_view bytes) {
    Send(fmt::format(
        R"({{"method":"process/output","params":{{"processId":"{}","seq":{},"stream":"stdout","chunk":"{}"}}}})", id,
        seq, support::Base64(bytes)));
  }
  void SendExited(std::string_view id, int seq, int code) {
    Send(fmt::format(R"({{"method":"process/exited","params":{{"processId":"{}","seq":{},"exitCode":{}}}}})", id, seq,
                     code));
  }
  void SendClosed(std::string_view id, int seq) {
    Send(fmt::format(R"({{"method":"process/closed","params":{{"processId":"{}","seq":{}}}}})", id, seq));
  }
  void Cut() {
    if (rpc::Receiver* const receiver = std::exchange(receiver_, nullptr)) receiver->OnClosed();
  }

  bool connected() const { return receiver_ != nullptr; }
  int dials() const { return dials_; }
  rpc::Reading reading() const { return reading_; }
  // The requests and notifications of the client with this method.
  std::vector<support::Message> Got(std::string_view method) const {
    std::vector<support::Message> found;
    for (const auto& message : got_) {
      if (message.Has("method") && message.Text("method") == method) found.push_back(message);
    }
    return found;
  }
  const std::vector<support::Message>& got() const { return got_; }

 private:
  class ScriptedTransport final : public rpc::Transport, public std::enable_shared_from_this<ScriptedTransport> {
   public:
    explicit ScriptedTransport(ScriptedServer& server) : server_(server) {}
    void Start(rpc::Receiver& receiver) override {
      receiver_ = &receiver;
      server_.receiver_ = &receiver;
    }
    void Send(std::string message) override {
      if (server_.receiver_ != receiver_) return;
      server_.loop_.Post([this, self = shared_from_this(), text = std::move(message)] {
        if (server_.receiver_ == receiver_) server_.OnMessage(support::Message(text));
      });
    }
    bool congested() const override { return false; }
    void SetReading(rpc::Reading reading) override { server_.reading_ = reading; }
    void Close() override {
      server_.loop_.Post([this, self = shared_from_this()] {
        if (server_.receiver_ == receiver_) server_.Cut();
      });
    }
    void Abort() override { Close(); }
    loop::Task<rpc::Presence> Probe(std::chrono::milliseconds) override { co_return rpc::Presence::kAnswers; }
    std::string_view peer() const override { return "scripted"; }

   private:
    ScriptedServer& server_;
    rpc::Receiver* receiver_ = nullptr;
  };

  class ScriptedDialer final : public Dialer {
   public:
    explicit ScriptedDialer(ScriptedServer& server) : server_(server) {}
    loop::Task<Result<std::shared_ptr<rpc::Transport>>> Dial() override {
      ++server_.dials_;
      told_ = server_.exhausted_;
      if (told_) co_return std::unexpected(*told_);
      if (!server_.reachable_) co_return Fail(ErrorKind::kDisconnected, "connection refused");
      server_.Cut();
      co_return std::make_shared<ScriptedTransport>(server_);
    }
    std::optional<Error> exhausted() const override { return told_; }

   private:
    ScriptedServer& server_;
    std::optional<Error> told_;
  };

  void OnMessage(const support::Message& message) {
    got_.push_back(message);
    if (!message.Has("id") || !message.Has("method")) return;
    const auto handler = handlers_.find(message.Text("method"));
    if (handler == handlers_.end()) return;
    const auto answer = handler->second(message);
    if (answer) Send(fmt::format(R"({{"id":{},{}}})", message.Number("id"), *answer));
  }

  loop::EventLoop& loop_;
  std::map<std::string, Handler, std::less<>> handlers_;
  rpc::Receiver* receiver_ = nullptr;
  rpc::Reading reading_ = rpc::Reading::kOn;
  bool reachable_ = true;
  std::optional<Error> exhausted_;
  int dials_ = 0;
  std::vector<support::Message> got_;
};

}  // namespace holdfast::client
