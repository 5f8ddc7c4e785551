#include "cli/runs/input_relay.h"

#include <poll.h>
#include <termios.h>
#include <unistd.h>

#include <cerrno>
#include <utility>
#include <vector>

#include "cli/terminal/screen.h"
#include "sys/io.h"

namespace holdfast::cli {
namespace {

constexpr size_t kBlockBytes = 256 << 10;

// Returns whether a read would stop this program, because it runs in the background of its terminal.
bool IsInBackground() { return IsTerminal(STDIN_FILENO) && ::tcgetpgrp(STDIN_FILENO) != ::getpgrp(); }

// Returns whether a read does not wait. Input that was there may have been taken by a program in the foreground.
bool HasInput(int fd) {
  pollfd input{.fd = fd, .events = POLLIN, .revents = 0};
  return ::poll(&input, 1, 0) != 0;
}

}  // namespace

InputRelay::InputRelay(loop::EventLoop& loop, Driver& driver, TerminalQuestions& questions,
                       std::optional<EscapeKeys> keys, Wakeup& changed)
    : driver_(driver), questions_(questions), keys_(keys), changed_(changed), watch_(loop, stdin_.fd(), [this] {
        readable_.Notify();
      }) {}

std::optional<EscapeKeys::Action> InputRelay::TakeAction() { return std::exchange(action_, std::nullopt); }

// A process that no longer reads its input is not a reason to stop: its output is still wanted.
loop::Task<> InputRelay::Feed() {
  std::vector<char> block(kBlockBytes);
  for (;;) {
    watch_.WatchReadable();
    co_await readable_.Next();
    while (IsInBackground()) co_await continued_.Next();
    while (questions_.open()) co_await questions_.closed().Next();
    if (!HasInput(stdin_.fd())) continue;
    const ssize_t n = sys::Read(stdin_.fd(), block.data(), block.size());
    if (n == -EAGAIN) continue;
    if (n <= 0) break;
    const auto passed = co_await PassOn({block.data(), static_cast<size_t>(n)});
    if (!passed) co_return;
  }
  (void)co_await driver_.CloseStdin();  // the process may have ended meanwhile
}

loop::Task<Result<>> InputRelay::PassOn(std::string_view bytes) {
  while (!bytes.empty()) {
    EscapeKeys::Typed typed = keys_ ? keys_->Take(bytes) : EscapeKeys::Typed{std::string(bytes), {}, {}};
    if (!typed.bytes.empty()) {
      auto written = co_await driver_.Write(std::move(typed.bytes));
      if (!written) co_return written;
    }
    if (typed.action) {
      action_ = typed.action;
      changed_.NotifyLater();
    }
    bytes = typed.rest;
  }
  co_return Result<>();
}

}  // namespace holdfast::cli
