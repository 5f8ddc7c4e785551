// The one event loop of a program. Every callback runs on the thread that calls Run(). Asio stays behind this header;
// only transport/*.cc, which needs it for Beast, calls context().
#pragma once

#include <chrono>
#include <functional>
#include <memory>

namespace boost::asio {
class io_context;
}  // namespace boost::asio

namespace holdfast::loop {

using Callback = std::move_only_function<void()>;

class EventLoop {
 public:
  EventLoop();
  ~EventLoop();
  EventLoop(const EventLoop&) = delete;
  EventLoop& operator=(const EventLoop&) = delete;

  // Runs callbacks until Stop(). Run may be called again after it has returned.
  void Run();
  void Stop();

  // Queues `callback` behind the callbacks that are ready at this moment. Any thread may call this.
  void Post(Callback callback);

  boost::asio::io_context& context();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

// An FdWatch reports when a descriptor can be read or written. Each call of WatchReadable or WatchWritable leads to one
// call of the callback. No callback runs after the destructor, which may run inside a callback. The watch does not own
// the descriptor, which must outlive it.
class FdWatch {
 public:
  FdWatch(EventLoop& loop, int fd, Callback on_readable, Callback on_writable = {});
  ~FdWatch();
  FdWatch(const FdWatch&) = delete;
  FdWatch& operator=(const FdWatch&) = delete;

  void WatchReadable();
  void WatchWritable();

 private:
  struct State;
  std::shared_ptr<State> state_;
};

// A timer calls `on_expired` once for each Start(). A Start() while the timer runs replaces the delay.
class Timer {
 public:
  Timer(EventLoop& loop, Callback on_expired);
  ~Timer();
  Timer(const Timer&) = delete;
  Timer& operator=(const Timer&) = delete;

  void Start(std::chrono::milliseconds delay);
  void Stop();
  bool running() const;

 private:
  struct State;
  std::shared_ptr<State> state_;
};

}  // namespace holdfast::loop
