// A request that the test makes up. The test sees what becomes of it.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "transport/http_call.h"

namespace holdfast::rendezvous {

// The side of the test, which may outlive the call.
struct FakeExchange {
  transport::HttpMessage request = {};
  bool asks_for_web_socket = true;
  int socket = -1;  // borrowed; without one, the peer is a stranger
  std::optional<transport::HttpResponse> answer = {};
  bool upgraded = false;
  bool gone = false;

  unsigned status() const { return answer ? answer->status : 0; }
};

class FakeCall final : public transport::HttpCall {
 public:
  explicit FakeCall(std::shared_ptr<FakeExchange> exchange) : exchange_(std::move(exchange)) {}

  const transport::HttpMessage& request() const override { return exchange_->request; }
  std::string_view peer() const override { return "the test"; }
  int socket() const override { return exchange_->socket; }
  bool asks_for_web_socket() const override { return exchange_->asks_for_web_socket; }
  void Answer(transport::HttpResponse response) override { exchange_->answer = std::move(response); }
  transport::UpgradedSocket TakeUpgrade() override {
    exchange_->upgraded = true;
    return {};
  }
  bool gone() const override { return exchange_->gone; }

 private:
  std::shared_ptr<FakeExchange> exchange_;
};

}  // namespace holdfast::rendezvous
