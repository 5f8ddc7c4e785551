// The one loop of a program: every callback of the product runs on the thread that calls Run(). Asio stays behind this
// header; only transport/*.cc, which needs it for Beast, asks for context().
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

  // Runs callbacks until Stop(). May be called again after it returned.
  void Run();
  void Stop();

  // Runs `callback` after what is ready at this moment. Safe from any thread.
  void Post(Callback callback);

  boost::asio::io_context& context();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

// Tells when a borrowed descriptor can be read or written. Each Watch call arms one callback; nothing is called after
// the destructor, which may run inside a callback. The descriptor must outlive the watch.
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

// Fires once per Start(). Start() while running moves the deadline.
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
