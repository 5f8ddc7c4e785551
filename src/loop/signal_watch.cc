#include "loop/signal_watch.h"

#include <boost/asio/io_context.hpp>
#include <boost/asio/signal_set.hpp>

#include <cstdlib>
#include <utility>

namespace holdfast::loop {

struct SignalWatch::State {
  State(EventLoop& loop, std::function<void(int)> callback) : signals(loop.context()), on_signal(std::move(callback)) {}

  boost::asio::signal_set signals;
  std::function<void(int)> on_signal;
};

SignalWatch::SignalWatch(EventLoop& loop, const std::vector<int>& signals, std::function<void(int)> on_signal)
    : state_(std::make_shared<State>(loop, std::move(on_signal))) {
  for (int signal : signals) state_->signals.add(signal);
  Wait(state_);
}

SignalWatch::~SignalWatch() {
  boost::system::error_code ignored;  // a wait whose signal has already come needs no cancellation
  state_->signals.cancel(ignored);
}

void SignalWatch::Wait(const std::shared_ptr<State>& state) {
  state->signals.async_wait([state](boost::system::error_code ec, int signal) {
    if (ec) return;
    state->on_signal(signal);
    Wait(state);
  });
}

void RunUntilSignal(EventLoop& loop, const std::vector<int>& signals, Callback shut_down) {
  bool stopping = false;
  const SignalWatch watch(loop, signals, [&](int signal) {
    if (std::exchange(stopping, true)) std::_Exit(128 + signal);
    shut_down();
  });
  loop.Run();
}

}  // namespace holdfast::loop
