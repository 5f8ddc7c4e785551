// A FakeTransport is a transport without a socket. It keeps what is sent, and tests deliver the messages that shall be
// received.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "rpc/transport.h"

namespace holdfast::rpc {

class FakeTransport final : public Transport {
 public:
  void Start(Receiver& receiver) override { receiver_ = &receiver; }
  void Send(std::string message) override { sent.push_back(std::move(message)); }
  bool congested() const override { return is_congested || sent.size() >= room; }
  void SetReading(Reading wanted) override { reading = wanted; }
  void Close() override { Disconnect(); }
  std::string_view peer() const override { return "fake"; }

  void Deliver(std::string_view message) { receiver_->OnMessage(message); }

  void Drain() {
    is_congested = false;
    receiver_->OnDrained();
  }

  // Makes room for so many further messages; the transport is congested after them.
  void DrainFor(size_t messages) {
    room = sent.size() + messages;
    Drain();
  }

  void Disconnect() {
    if (Receiver* receiver = std::exchange(receiver_, nullptr)) receiver->OnClosed();
  }
  bool connected() const { return receiver_ != nullptr; }

  std::vector<std::string> sent;
  bool is_congested = false;
  size_t room = SIZE_MAX;
  Reading reading = Reading::kOn;

 private:
  Receiver* receiver_ = nullptr;
};

}  // namespace holdfast::rpc
