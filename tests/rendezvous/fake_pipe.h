// A pipe whose other end is the test.
#pragma once

#include <string>
#include <string_view>

#include "rendezvous/relay/pipe.h"

namespace holdfast::rendezvous {

class FakePipe final : public Pipe {
 public:
  static constexpr std::string_view kOnlyPings = "only pings";  // bytes without a message; all others are messages

  void Start(Receiver& receiver) override { receiver_ = &receiver; }
  void Send(std::string_view bytes) override { sent_ += bytes; }
  bool congested() const override { return false; }
  bool has_sent_message() const override { return !sent_.empty() && sent_ != kOnlyPings; }
  void SetReading(Reading) override {}
  void Close() override {
    closed_ = true;
    receiver_ = nullptr;
  }

  // The other end sends bytes, or hangs up.
  void Deliver(std::string_view bytes) { receiver_->OnBytes(bytes); }
  void HangUp() { receiver_->OnEnded(); }

  bool started() const { return receiver_ != nullptr; }
  bool closed() const { return closed_; }
  const std::string& sent() const { return sent_; }

 private:
  Receiver* receiver_ = nullptr;
  std::string sent_;
  bool closed_ = false;
};

}  // namespace holdfast::rendezvous
