// An EndOfInputWatch calls a function when standard input ends. What comes before that is discarded.
#pragma once

#include <unistd.h>

#include <array>
#include <cerrno>
#include <utility>

#include "loop/event_loop.h"
#include "sys/io.h"

namespace holdfast::remote {

enum class EndOfInput { kIgnored, kStops };

class EndOfInputWatch {
 public:
  EndOfInputWatch(loop::EventLoop& loop, loop::Callback on_end)
      : on_end_(std::move(on_end)), watch_(loop, STDIN_FILENO, [this] { OnReadable(); }) {
    watch_.WatchReadable();
  }

 private:
  void OnReadable() {
    std::array<char, 4096> discarded;
    const ssize_t count = sys::Read(STDIN_FILENO, discarded.data(), discarded.size());
    if (count > 0 || count == -EAGAIN) return watch_.WatchReadable();
    on_end_();
  }

  loop::Callback on_end_;
  loop::FdWatch watch_;
};

}  // namespace holdfast::remote
