#include "loop/event_loop.h"

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>

namespace holdfast::loop {

namespace asio = boost::asio;
using boost::system::error_code;

// The argument 1 is a hint to Asio that one thread runs the loop, which saves wake-ups. Posting from other threads is
// safe all the same.
struct EventLoop::Impl {
  asio::io_context context{1};
  asio::executor_work_guard<asio::io_context::executor_type> work = asio::make_work_guard(context);
};

EventLoop::EventLoop() : impl_(std::make_unique<Impl>()) {}
EventLoop::~EventLoop() = default;

// The context is restarted after the run and not before it, so that a Stop() which comes earlier than Run() is not
// lost.
void EventLoop::Run() {
  impl_->context.run();
  impl_->context.restart();
}

void EventLoop::Stop() { impl_->context.stop(); }

void EventLoop::Post(Callback callback) { asio::post(impl_->context, std::move(callback)); }

asio::io_context& EventLoop::context() { return impl_->context; }

// The state of a watch is shared with each pending wait, so that a callback may destroy its watch and still return to
// memory that exists.
struct FdWatch::State {
  State(asio::io_context& context, Callback readable, Callback writable)
      : descriptor(context), on_readable(std::move(readable)), on_writable(std::move(writable)) {}

  asio::posix::stream_descriptor descriptor;
  Callback on_readable, on_writable;
  bool watched = true;
};

// epoll refuses regular files and /dev/null. Asio accepts such a descriptor all the same, but its waits fail at once.
// Every outcome of a wait except cancellation counts as ready: the read or write of the caller then finds out what is
// wrong, and reads and writes of regular files never block.
FdWatch::FdWatch(EventLoop& loop, int fd, Callback on_readable, Callback on_writable)
    : state_(std::make_shared<State>(loop.context(), std::move(on_readable), std::move(on_writable))) {
  // After a failure the descriptor stays unassigned and its waits fail at once: the caller polls, but works correctly.
  error_code unwatchable;
  state_->descriptor.assign(fd, unwatchable);
}

FdWatch::~FdWatch() {
  state_->watched = false;
  if (state_->descriptor.is_open()) state_->descriptor.release();
}

void FdWatch::WatchReadable() {
  state_->descriptor.async_wait(asio::posix::stream_descriptor::wait_read, [state = state_](error_code) {
    if (state->watched) state->on_readable();
  });
}

void FdWatch::WatchWritable() {
  state_->descriptor.async_wait(asio::posix::stream_descriptor::wait_write, [state = state_](error_code) {
    if (state->watched) state->on_writable();
  });
}

// The member `round` distinguishes the wait of the latest Start() from an earlier one whose callback was already queued
// when the timer was started again.
struct Timer::State {
  State(asio::io_context& context, Callback expired) : timer(context), on_expired(std::move(expired)) {}

  asio::steady_timer timer;
  Callback on_expired;
  uint64_t round = 0;
  bool running = false;
};

Timer::Timer(EventLoop& loop, Callback on_expired)
    : state_(std::make_shared<State>(loop.context(), std::move(on_expired))) {}

Timer::~Timer() { Stop(); }

void Timer::Start(std::chrono::milliseconds delay) {
  state_->running = true;
  ++state_->round;
  state_->timer.expires_after(delay);
  state_->timer.async_wait([state = state_, round = state_->round](error_code) {
    if (!state->running || state->round != round) return;
    state->running = false;
    state->on_expired();
  });
}

void Timer::Stop() {
  if (!state_->running) return;
  state_->running = false;
  state_->timer.cancel();
}

bool Timer::running() const { return state_->running; }

}  // namespace holdfast::loop
