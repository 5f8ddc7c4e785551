// A Peer is the server's end of one connection in a test. It records what the transport tells it, and the test's thread
// can wait for that.
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>

#include <gtest/gtest.h>

#include "rpc/transport.h"
#include "support/test_socket.h"

namespace holdfast::transport {

// `on_message` runs on the loop for each message, before it is recorded.
class Peer : public rpc::Receiver {
 public:
  using OnMessageHook = std::function<void(Peer&, std::string_view)>;

  Peer(std::shared_ptr<rpc::Transport> transport, OnMessageHook on_message)
      : transport_(std::move(transport)), on_message_(std::move(on_message)) {}

  void OnMessage(std::string_view message) override {
    if (on_message_) on_message_(*this, message);
    Note([&] { messages_.emplace_back(message); });
  }
  void OnDrained() override {
    Note([&] { ++drained_; });
  }
  void OnClosed() override {
    transport_.reset();
    Note([&] { closed_ = true; });
  }

  // Returns the next message. If none comes, the test fails and the result is "".
  std::string WaitForMessage() {
    std::unique_lock lock(mutex_);
    if (!changed_.wait_for(lock, support::kPatience, [&] { return !messages_.empty(); })) {
      ADD_FAILURE() << "no message came";
      return "";
    }
    std::string message = std::move(messages_.front());
    messages_.pop_front();
    return message;
  }
  bool WaitForClosed() {
    return WaitFor([&] { return closed_; });
  }
  bool WaitForDrained() {
    return WaitFor([&] { return drained_ > 0; });
  }

  size_t messages() {
    const std::lock_guard lock(mutex_);
    return messages_.size();
  }

  // Only the loop's thread may use it; null once the connection is closed.
  rpc::Transport* transport() { return transport_.get(); }

 private:
  void Note(auto change) {
    const std::lock_guard lock(mutex_);
    change();
    changed_.notify_all();
  }
  bool WaitFor(auto condition) {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, support::kPatience, condition);
  }

  std::shared_ptr<rpc::Transport> transport_;
  OnMessageHook on_message_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::string> messages_;
  int drained_ = 0;
  bool closed_ = false;
};

}  // namespace holdfast::transport
