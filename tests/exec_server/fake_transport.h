// A FakeTransport is a transport without a socket. It keeps what the server sends, and tests deliver the messages that
// the server shall receive.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "rpc/transport.h"

namespace holdfast::exec_server {

class FakeTransport final : public rpc::Transport {
 public:
  void Start(rpc::Receiver& receiver) override { receiver_ = &receiver; }
  void Send(std::string message) override { sent.push_back(std::move(message)); }
  bool congested() const override { return is_congested; }
  void SetReading(rpc::Reading wanted) override { reading = wanted; }
  void Close() override { Disconnect(); }
  std::string_view peer() const override { return "fake"; }

  void Deliver(std::string_view message) { receiver_->OnMessage(message); }

  void Drain() {
    is_congested = false;
    receiver_->OnDrained();
  }

  void Disconnect() {
    if (rpc::Receiver* receiver = std::exchange(receiver_, nullptr)) receiver->OnClosed();
  }
  bool connected() const { return receiver_ != nullptr; }

  std::vector<std::string> sent;
  bool is_congested = false;
  rpc::Reading reading = rpc::Reading::kOn;

 private:
  rpc::Receiver* receiver_ = nullptr;
};

}  // namespace holdfast::exec_server
