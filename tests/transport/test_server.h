// A TestServer is a listener with its loop on a thread. Its connections are Peers.
#pragma once

#include <condition_variable>
#include <functional>
#include <future>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "transport/listener.h"
#include "transport/peer.h"

namespace holdfast::transport {

// The routes of the exec-server, for tests that need some routes.
inline HttpRoutes TestRoutes() {
  using Access = HttpRoute::Access;
  using Kind = HttpRoute::Kind;
  return {{.path = "/", .kind = Kind::kWebSocket},
          {.path = "/readyz", .kind = Kind::kProbe, .access = Access::kEveryone},
          {.path = "/healthz", .kind = Kind::kProbe, .access = Access::kEveryone}};
}

class TestServer {
 public:
  using Listen = std::function<Result<std::unique_ptr<Listener>>(loop::EventLoop&, OnConnection)>;

  explicit TestServer(const Listen& listen, Peer::OnMessageHook on_message = {}) : on_message_(std::move(on_message)) {
    auto listener = listen(loop_, [this](std::shared_ptr<rpc::Transport> transport) { Add(std::move(transport)); });
    if (!listener) ADD_FAILURE() << listener.error().message;
    if (listener) listener_ = *std::move(listener);
    thread_ = std::thread([this] { loop_.Run(); });
  }

  explicit TestServer(const Limits& limits = {}, Peer::OnMessageHook on_message = {})
      : TestServer(
            [&](loop::EventLoop& loop, OnConnection on_connection) {
              return ListenWebSocket(loop, {.ip = "127.0.0.1"}, limits, {.routes = TestRoutes()},
                                     std::move(on_connection));
            },
            std::move(on_message)) {}

  ~TestServer() {
    loop_.Stop();
    thread_.join();
  }

  std::string url() const { return listener_->url(); }

  // Runs `action` on the loop and waits for it.
  void Run(std::function<void()> action) {
    std::promise<void> done;
    loop_.Post([&] {
      action();
      done.set_value();
    });
    done.get_future().wait();
  }

  // Waits for a connection that no earlier call has returned, and returns it.
  Peer& WaitForPeer() {
    std::unique_lock lock(mutex_);
    added_.wait_for(lock, support::kPatience, [&] { return peers_.size() > seen_; });
    if (peers_.size() <= seen_) ADD_FAILURE() << "no connection came";
    return *peers_.at(seen_++);
  }

  void Stop() {
    Run([this] { listener_->Stop(); });
  }

 private:
  void Add(std::shared_ptr<rpc::Transport> transport) {
    auto peer = std::make_unique<Peer>(transport, on_message_);
    transport->Start(*peer);
    const std::lock_guard lock(mutex_);
    peers_.push_back(std::move(peer));
    added_.notify_all();
  }

  loop::EventLoop loop_;  // outlives the connections that the peers hold
  Peer::OnMessageHook on_message_;
  std::mutex mutex_;
  std::condition_variable added_;
  std::vector<std::unique_ptr<Peer>> peers_;
  size_t seen_ = 0;
  std::unique_ptr<Listener> listener_;
  std::thread thread_;
};

}  // namespace holdfast::transport
