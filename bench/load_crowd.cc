#include "load_crowd.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include <fmt/format.h>

#include "bench_server.h"
#include "load_requests.h"
#include "transport/dial.h"
#include "transport/dial_url.h"

namespace holdfast::bench {
namespace {

using namespace std::chrono_literals;

constexpr auto kPatience = 60s;
constexpr std::string_view kMessage = "sixteen letters!";

std::string NameOf(size_t number) { return fmt::format("load-{}", number); }

}  // namespace

class Crowd::ExecutorConnection final : public rpc::Receiver {
 public:
  ExecutorConnection(Crowd& crowd, std::string url, std::shared_ptr<rpc::Transport> transport)
      : crowd_(crowd), url_(std::move(url)), transport_(std::move(transport)) {
    transport_->Start(*this);
  }
  void End() { std::exchange(ending_, true) ? void() : transport_->Close(); }
  bool ended() const { return ended_; }

 private:
  void OnMessage(std::string_view message) override {
    transport_->Send(std::string(message));
    if (std::exchange(joined_, true)) return;
    ++crowd_.joined_;
    crowd_.scope_.Start(crowd_.OpenWaiting(url_));
  }
  void OnDrained() override {}
  void OnClosed() override {
    Require(ending_, "the node has closed a connection of an executor");
    ended_ = true;
    crowd_.loop_.Stop();
  }

  Crowd& crowd_;
  const std::string url_;
  const std::shared_ptr<rpc::Transport> transport_;
  bool joined_ = false, ending_ = false, ended_ = false;
};

class Crowd::ClientConnection final : public rpc::Receiver {
 public:
  ClientConnection(Crowd& crowd, std::shared_ptr<rpc::Transport> transport)
      : crowd_(crowd), transport_(std::move(transport)) {
    transport_->Start(*this);
  }

  void Begin(size_t messages, std::vector<double>& times) {
    left_ = messages;
    times_ = &times;
    SendNext();
  }
  size_t left() const { return left_; }
  void End() { std::exchange(ending_, true) ? void() : transport_->Close(); }
  bool ended() const { return ended_; }

 private:
  void SendNext() {
    sent_ = Clock::now();
    transport_->Send(std::string(kMessage));
  }
  void OnMessage(std::string_view message) override {
    times_->push_back(Microseconds(Clock::now() - sent_));
    Require(message == kMessage, "the echo differs from the message");
    if (--left_ > 0) return SendNext();
    crowd_.loop_.Stop();
  }
  void OnDrained() override {}
  void OnClosed() override {
    Require(ending_, "the node has closed a connection of a client");
    ended_ = true;
    crowd_.loop_.Stop();
  }

  Crowd& crowd_;
  const std::shared_ptr<rpc::Transport> transport_;
  Clock::time_point sent_;
  size_t left_ = 0;
  std::vector<double>* times_ = nullptr;
  bool ending_ = false, ended_ = false;
};

Crowd::Crowd(NodeAccess node) : node_(std::move(node)) {}

// A transport calls its receiver until it has closed.
Crowd::~Crowd() {
  for (const auto& executor : executor_connections_) executor->End();
  for (const auto& client : clients_) client->End();
  RunUntil([this] {
    return std::ranges::all_of(executor_connections_, [](const auto& each) { return each->ended(); }) &&
           std::ranges::all_of(clients_, [](const auto& each) { return each->ended(); });
  });
}

void Crowd::RunUntil(const std::function<bool()>& done) {
  bool late = false;
  loop::Timer deadline(loop_, [&] {
    late = true;
    loop_.Stop();
  });
  deadline.Start(kPatience);
  while (!done()) {
    loop_.Run();
    Require(!late, "the node fell silent");
  }
}

loop::Task<std::shared_ptr<rpc::Transport>> Crowd::Dial(std::string url) {
  const auto parsed = transport::ParseServerUrl(url);
  Require(parsed.has_value(), "the node has named an unusable URL");
  transport::DialOptions options;
  options.timeout = kPatience;
  options.limits.ping_interval = 0ms;
  auto dialled = co_await transport::Dial(loop_, *parsed, std::move(options));
  Require(dialled.has_value(), dialled ? "" : dialled.error().message);
  co_return *std::move(dialled);
}

loop::Task<> Crowd::OpenWaiting(std::string url) {
  auto transport = co_await Dial(url);
  executor_connections_.push_back(std::make_unique<ExecutorConnection>(*this, std::move(url), std::move(transport)));
  ++open_connections_;
  loop_.Stop();
}

loop::Task<> Crowd::OpenClient(std::string id) {
  const std::string address = node_.url.substr(node_.url.find("://"));
  std::string url = fmt::format("ws{}/executors/{}?token={}", address, id, node_.client_token);
  auto transport = co_await Dial(std::move(url));
  clients_.push_back(std::make_unique<ClientConnection>(*this, std::move(transport)));
  loop_.Stop();
}

void Crowd::AddExecutors(size_t count) {
  for (size_t i = 0; i < count; ++i) {
    const size_t wanted = open_connections_ + 1;
    scope_.Start(OpenWaiting(RegisterExecutor(node_.url, NameOf(executors_++), node_.executor_token)));
    RunUntil([&] { return open_connections_ == wanted; });
  }
}

void Crowd::AddClients() {
  while (clients_.size() < executors_) {
    const size_t number = clients_.size();
    scope_.Start(OpenClient(NameOf(number)));
    RunUntil([&] { return clients_.size() == number + 1; });
    std::vector<double> first;
    clients_.back()->Begin(1, first);
    RunUntil([&] { return clients_.back()->left() == 0 && open_connections_ == executors_ + joined_; });
  }
}

std::vector<double> Crowd::Echo(size_t active, size_t messages_of_each) {
  std::vector<double> times;
  times.reserve(active * messages_of_each);
  for (size_t i = 0; i < active; ++i) clients_[i]->Begin(messages_of_each, times);
  RunUntil([&] { return times.size() == active * messages_of_each; });
  return times;
}

}  // namespace holdfast::bench
