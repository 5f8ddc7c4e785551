#include "loop/event.h"

#include <algorithm>
#include <utility>

namespace holdfast::loop {
namespace {

using Clock = std::chrono::steady_clock;

// Delays are cut to this one, because the clock cannot represent a time that is too far away.
constexpr std::chrono::milliseconds kLongestDelay = std::chrono::years(1);

}  // namespace

// The tasks to wake are moved to a local list first. So a task that waits again waits for the next call of Notify, and
// a task may destroy the event.
void Event::Notify() {
  ListOf<Wait> woken;
  woken.swap(waiting_);
  while (!woken.empty()) {
    Wait& first = woken.front();
    woken.pop_front();
    first.Wake(Woken::kByEvent);
  }
}

Event::Wait Event::Next() { return {*this, nullptr}; }
Event::Wait Event::NextBefore(Deadline& deadline) { return {*this, &deadline}; }

Event::Wait::~Wait() {
  if (deadline_ != nullptr) deadline_->waiting_ = nullptr;
}

bool Event::Wait::await_ready() {
  if (deadline_ == nullptr || !deadline_->passed()) return false;
  woken_ = Woken::kByTime;
  return true;
}

void Event::Wait::await_suspend(TaskFrame frame) {
  frame_ = frame;
  event_.waiting_.push_back(*this);
  if (deadline_ != nullptr) deadline_->Watch(*this);
}

void Event::Wait::Wake(Woken how) {
  woken_ = how;
  frame_.Resume();
}

Deadline::Deadline(EventLoop& loop, std::optional<std::chrono::milliseconds> delay) : loop_(loop) {
  if (delay) time_ = Clock::now() + std::min(*delay, kLongestDelay);
}

bool Deadline::passed() const { return time_ && *time_ <= Clock::now(); }

std::optional<std::chrono::milliseconds> Deadline::left() const {
  if (!time_) return std::nullopt;
  return std::max(std::chrono::ceil<std::chrono::milliseconds>(*time_ - Clock::now()), std::chrono::milliseconds(0));
}

void Deadline::Watch(Event::Wait& wait) {
  if (!time_) return;
  waiting_ = &wait;
  if (timer_) return;
  timer_.emplace(loop_, [this] { OnExpired(); });
  timer_->Start(std::chrono::ceil<std::chrono::milliseconds>(*time_ - Clock::now()));
}

// The timer has expired. A task that does not wait at this moment finds that the time has passed when it waits again.
void Deadline::OnExpired() {
  Event::Wait* const wait = std::exchange(waiting_, nullptr);
  if (wait == nullptr) return;
  wait->unlink();
  wait->Wake(Event::Woken::kByTime);
}

}  // namespace holdfast::loop
