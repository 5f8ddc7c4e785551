#include "support/channel.h"

#include <utility>

#include <gtest/gtest.h>

#include "loop/scope.h"
#include "support/loop_runner.h"
#include "transport/dial.h"

namespace holdfast::support {
namespace {

using Clock = std::chrono::steady_clock;
using Dialled = Result<std::shared_ptr<rpc::Transport>>;

constexpr auto kSendPatience = 3 * kPatience;

// The transport is congested as long as any byte waits to be sent, so that a channel sees when everything is sent.
transport::Limits ChannelLimits() {
  transport::Limits limits;
  limits.max_message_bytes = limits.max_frame_bytes = 768u << 20;
  limits.high_water_bytes = limits.low_water_bytes = 1;
  return limits;
}

loop::Task<> Keep(loop::Task<Dialled> dial, std::optional<Dialled>& outcome) { outcome = co_await std::move(dial); }

}  // namespace

Channel::Channel(std::unique_ptr<loop::EventLoop> loop, std::shared_ptr<rpc::Transport> transport)
    : loop_(std::move(loop)), transport_(std::move(transport)), ended_(transport_ == nullptr) {
  if (ended_) return;
  transport_->SetReading(rpc::Reading::kOff);
  transport_->Start(*this);
}

bool Channel::Send(std::string_view text) {
  if (ended_) return false;
  transport_->Send(std::string(text));
  const auto deadline = Clock::now() + kSendPatience;
  while (!ended_ && transport_->congested()) {
    if (Clock::now() < deadline && RunOne(*loop_, deadline)) continue;
    ADD_FAILURE() << "the server does not read";
    return false;
  }
  return !ended_;
}

std::optional<std::string> Channel::Receive(std::chrono::milliseconds timeout) {
  if (ended_) return std::nullopt;
  const auto deadline = Clock::now() + timeout;
  transport_->SetReading(rpc::Reading::kOn);
  while (!message_ && !ended_ && RunOne(*loop_, deadline)) continue;
  if (!message_ && !ended_) transport_->SetReading(rpc::Reading::kOff);
  return std::exchange(message_, std::nullopt);
}

void Channel::OnMessage(std::string_view message) {
  message_ = message;
  transport_->SetReading(rpc::Reading::kOff);
}

// The transport may be held by operations that wait, which are destroyed with the loop.
void Channel::Close() {
  ended_ = true;
  transport_.reset();
  loop_.reset();
}

std::unique_ptr<Channel> OpenChannel(std::string_view url) {
  auto loop = std::make_unique<loop::EventLoop>();
  std::optional<Dialled> outcome;
  loop::Scope scope;
  if (const auto parsed = transport::ParseServerUrl(url); parsed) {
    scope.Start(Keep(transport::Dial(*loop, *parsed, {.limits = ChannelLimits()}), outcome));
    RunUntil(*loop, [&] { return outcome.has_value(); });
  } else {
    outcome = std::unexpected(parsed.error());
  }
  const bool connected = outcome && outcome->has_value();
  EXPECT_TRUE(connected) << url << ": " << (outcome ? outcome->error().message : "the dial does not end");
  return std::make_unique<Channel>(std::move(loop), connected ? **std::move(outcome) : nullptr);
}

std::unique_ptr<Channel> OpenPipes(int to_server, int from_server) {
  auto loop = std::make_unique<loop::EventLoop>();
  auto transport = transport::ServeLines(*loop, from_server, to_server, ChannelLimits());
  return std::make_unique<Channel>(std::move(loop), std::move(transport));
}

}  // namespace holdfast::support
