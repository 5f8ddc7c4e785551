#include "rendezvous/nats/nats_pipe.h"

#include <utility>

#include "base/log.h"

namespace holdfast::rendezvous {
namespace {

// The room in the inbox beside the window: for the headers of its messages, and for messages without data.
constexpr size_t kRoomBesideWindow = 128u << 10;

}  // namespace

std::shared_ptr<NatsPipe> NatsPipe::Open(loop::EventLoop& loop, std::shared_ptr<NatsLine> line, Subjects subjects,
                                         const PipeSettings& settings) {
  std::shared_ptr<NatsPipe> pipe(new NatsPipe(loop, std::move(line), std::move(subjects), settings));
  const auto calling = [weak = std::weak_ptr(pipe)](void (NatsPipe::*function)()) {
    return [weak, function] {
      if (const auto self = weak.lock()) ((*self).*function)();
    };
  };
  pipe->wake_ = std::make_shared<Doorbell>(loop, calling(&NatsPipe::Deliver));
  auto inbox = NatsInbox::Make(loop, settings.window_bytes + kRoomBesideWindow, calling(&NatsPipe::ReadInbox));
  pipe->subscription_ = pipe->line_->Subscribe(pipe->subjects_.listens, {}, std::move(inbox));
  if (pipe->line_->ended()) {
    pipe->OnLineEnded();
  } else {
    pipe->line_->AddUser(*pipe);
  }
  return pipe;
}

NatsPipe::NatsPipe(loop::EventLoop& loop, std::shared_ptr<NatsLine> line, Subjects subjects,
                   const PipeSettings& settings)
    : line_(std::move(line)),
      subjects_(std::move(subjects)),
      settings_(settings),
      flow_(settings.window_bytes),
      timer_(loop, [this] { LookAtTime(); }) {}

NatsPipe::~NatsPipe() {
  if (phase_ == Phase::kOpen) Publish(flow_.End());
  Finish(Phase::kOver);
  wake_->Silence();
}

void NatsPipe::Call(std::string subject, std::string name) {
  line_->PublishRequest(std::move(subject), subjects_.listens, std::move(name));
}

void NatsPipe::Begin() {
  if (phase_ != Phase::kOpen) return;
  last_heard_ = Clock::now();
  Publish(flow_.Alive());
  timer_.Start(settings_.alive_interval / 2);
}

void NatsPipe::Start(Receiver& receiver) {
  receiver_ = &receiver;
  wake_->Ring();
}

void NatsPipe::Send(std::string_view bytes) {
  if (phase_ != Phase::kOpen) return;
  if (unsent_.empty()) bytes.remove_prefix(SendNow(bytes));
  unsent_ += bytes;
  if (congested()) was_congested_ = true;
}

// Sends as much as the window allows, and returns the number of these bytes.
size_t NatsPipe::SendNow(std::string_view bytes) {
  size_t sent = 0;
  while (sent < bytes.size() && flow_.sendable() > 0) {
    const std::string_view next = bytes.substr(sent, flow_.sendable());
    Publish(flow_.Data(next));
    sent += next.size();
  }
  return sent;
}

void NatsPipe::SendUnsent() {
  unsent_.erase(0, SendNow(unsent_));
  if (phase_ != Phase::kClosing) return;
  closing_until_ = Clock::now() + settings_.silence_limit;
  if (!unsent_.empty()) return;
  Publish(flow_.End());
  Finish(Phase::kOver);
}

void NatsPipe::Publish(std::string message) {
  last_sent_ = Clock::now();
  line_->Publish(subjects_.sends, std::move(message));
}

void NatsPipe::SetReading(Reading reading) {
  reading_ = reading;
  if (reading == Reading::kOn) wake_->Ring();
}

// A pipe whose window is used up lives on until the other end has taken the rest, or takes nothing for a while.
void NatsPipe::Close() {
  receiver_ = nullptr;
  wake_->Silence();
  if (phase_ == Phase::kOpen && !unsent_.empty()) {
    phase_ = Phase::kClosing;
    closing_until_ = Clock::now() + settings_.silence_limit;
    lingering_ = shared_from_this();
    return;
  }
  if (phase_ == Phase::kOpen) Publish(flow_.End());
  if (phase_ != Phase::kClosing) Finish(Phase::kOver);
}

// The caller has a reference to the pipe of its own.
void NatsPipe::Finish(Phase phase) {
  phase_ = phase;
  unlink();
  timer_.Stop();
  subscription_.reset();
  lingering_.reset();
}

void NatsPipe::OnLineEnded() {
  const auto self = shared_from_this();
  Break();
  SetAnswer(Answer::kLost);
}

// Ends a pipe that cannot go on. What has arrived and was not passed on is dropped.
void NatsPipe::Break() {
  if (phase_ == Phase::kOver || phase_ == Phase::kLastBytes) return;
  Publish(flow_.End());
  received_.clear();
  Finish(Phase::kOver);
  wake_->Ring();
}

void NatsPipe::ReadInbox() {
  if (subscription_ == nullptr) return;
  const auto self = shared_from_this();
  const bool is_overrun = subscription_->inbox().overrun();
  for (NatsMessage& message : subscription_->inbox().TakeAll()) {
    if (phase_ == Phase::kOpen || phase_ == Phase::kClosing) Take(std::move(message));
  }
  if (is_overrun) Break();
  Deliver();
}

void NatsPipe::Take(NatsMessage message) {
  if (answer_ == Answer::kNoneYet && message.is_no_responders()) {
    Finish(Phase::kOver);
    return SetAnswer(Answer::kNobody);
  }
  const auto decoded = flow_.Receive(message.bytes());
  if (!decoded) {
    LogWarn("nats.pipe_broken", {{"reason", decoded.error().message}});
    Break();
    return SetAnswer(Answer::kLost);
  }
  last_heard_ = Clock::now();
  Accept(*decoded, std::move(message));
  SetAnswer(decoded->kind == PipeMessage::Kind::kEnd ? Answer::kRefused : Answer::kJoined);
}

void NatsPipe::Accept(const PipeMessage& decoded, NatsMessage message) {
  switch (decoded.kind) {
    case PipeMessage::Kind::kData:
      if (phase_ == Phase::kOpen) received_.push_back({std::move(message), decoded.bytes});
      return;
    case PipeMessage::Kind::kConsumed:
      return SendUnsent();
    case PipeMessage::Kind::kEnd:
      return Finish(phase_ == Phase::kOpen ? Phase::kLastBytes : Phase::kOver);
    case PipeMessage::Kind::kAlive:
      return;
  }
}

void NatsPipe::SetAnswer(Answer answer) {
  if (answer_ != Answer::kNoneYet) return;
  answer_ = answer;
  answered_.Notify();
}

// Passes bytes to the receiver, which may turn reading off, close the pipe or release it in each call.
void NatsPipe::Deliver() {
  const auto self = shared_from_this();
  while (receiver_ != nullptr && reading_ == Reading::kOn && !received_.empty()) {
    const Received next = std::move(received_.front());
    received_.pop_front();
    auto credit = flow_.Consume(next.bytes.size());
    if (credit && phase_ == Phase::kOpen) Publish(*std::move(credit));
    receiver_->OnBytes(next.bytes);
  }
  TellReceiver();
}

void NatsPipe::TellReceiver() {
  if (receiver_ != nullptr && phase_ == Phase::kOpen && was_congested_ && !congested()) {
    was_congested_ = false;
    receiver_->OnDrained();
  }
  const bool has_ended = phase_ == Phase::kOver || (phase_ == Phase::kLastBytes && received_.empty());
  if (receiver_ != nullptr && has_ended) std::exchange(receiver_, nullptr)->OnEnded();
}

// The inbox is read first: time in which this program did not run does not count as silence.
void NatsPipe::LookAtTime() {
  const auto self = shared_from_this();
  ReadInbox();
  const Clock::time_point now = Clock::now();
  const bool is_late = phase_ == Phase::kClosing && now >= closing_until_;
  if (is_late || now - last_heard_ >= settings_.silence_limit) Break();
  if (phase_ != Phase::kOpen && phase_ != Phase::kClosing) return;
  if (now - last_sent_ >= settings_.alive_interval) Publish(flow_.Alive());
  timer_.Start(settings_.alive_interval / 2);
}

}  // namespace holdfast::rendezvous
