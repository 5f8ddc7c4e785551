#include "rendezvous/relay/leg_life.h"

#include <utility>

namespace holdfast::rendezvous {

bool LegLife::reads() const {
  if (joined()) return reading_ == Reading::kOn;
  return waiting() || state_ == State::kGoodbye;
}

bool LegLife::Join() {
  if (over()) return false;
  state_ = State::kJoined;
  return true;
}

bool LegLife::SayGoodbye() {
  if (over()) return false;
  state_ = State::kGoodbye;
  CloseBehindQueue();
  return true;
}

bool LegLife::Fail() {
  if (ended() || state_ == State::kFailed) return false;
  state_ = State::kFailed;
  return true;
}

bool LegLife::End() {
  congestion_ = Congestion::kNo;
  return std::exchange(state_, State::kEnded) != State::kEnded;
}

bool LegLife::Arm(Watch& watch) { return std::exchange(watch, Watch::kArmed) == Watch::kNot; }

void LegLife::OnQueued(size_t queue_bytes) {
  if (queue_bytes >= marks_.high) congestion_ = Congestion::kYes;
}

bool LegLife::OnSent(size_t queue_bytes) {
  if (!congested() || queue_bytes >= marks_.low) return false;
  congestion_ = Congestion::kNo;
  return true;
}

void LegLife::CloseBehindQueue() {
  if (writing_ == Writing::kOpen) writing_ = Writing::kLastBytes;
}

bool LegLife::TakeEndOfWriting(size_t queue_bytes) {
  if (writing_ != Writing::kLastBytes || queue_bytes > 0) return false;
  writing_ = Writing::kEnded;
  return true;
}

bool LegLife::OnPingTime() { return std::exchange(pong_, Pong::kAwaited) == Pong::kNone; }

}  // namespace holdfast::rendezvous
