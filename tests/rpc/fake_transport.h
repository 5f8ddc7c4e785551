// A FakeTransport is a transport without a socket. It keeps what is sent, and tests deliver the messages that shall be
// received.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "loop/event.h"
#include "loop/task.h"
#include "rpc/transport.h"

namespace holdfast::rpc {

class FakeTransport final : public Transport {
 public:
  void Start(Receiver& receiver) override { receiver_ = &receiver; }
  void Send(std::string message) override { sent.push_back(std::move(message)); }
  bool congested() const override { return is_congested || sent.size() >= room; }
  void SetReading(Reading wanted) override { reading = wanted; }
  void Close() override { Disconnect(); }
  void Abort() override { Disconnect(); }
  // Waits until the test answers for the other end, or disconnects it.
  loop::Task<Presence> Probe(std::chrono::milliseconds) override {
    ++probes;
    while (connected() && !presence) co_await probed_.Next();
    co_return connected() ? *presence : Presence::kSilent;
  }
  void AnswerProbes(Presence answer) {
    presence = answer;
    probed_.Notify();
  }
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
    Receiver* const receiver = std::exchange(receiver_, nullptr);
    probed_.Notify();
    if (receiver != nullptr) receiver->OnClosed();
  }
  bool connected() const { return receiver_ != nullptr; }

  std::vector<std::string> sent;
  bool is_congested = false;
  size_t room = SIZE_MAX;
  Reading reading = Reading::kOn;
  size_t probes = 0;
  std::optional<Presence> presence = Presence::kAnswers;  // what the other end answers to probes, and when

 private:
  loop::Event probed_;
  Receiver* receiver_ = nullptr;
};

}  // namespace holdfast::rpc
