#include "cli/runs/terminal_questions.h"

#include <fcntl.h>
#include <termios.h>
#include <unistd.h>

#include <cerrno>
#include <string_view>
#include <utility>

#include "base/owned_fd.h"
#include "sys/io.h"
#include "sys/write_all.h"

namespace holdfast::cli {
namespace {

constexpr cc_t kCtrlC = 3;
constexpr size_t kMaxLine = 4096;

// The terminal reads lines with an echo for as long as this object exists, and then has its settings from before.
// Ctrl-C ends a line instead of raising a signal, which would end the program or reach the command.
class LineMode {
 public:
  explicit LineMode(int fd) : fd_(fd) {
    if (::tcgetattr(fd, &before_) < 0) return;
    termios lines = before_;
    lines.c_iflag |= ICRNL;
    lines.c_iflag &= ~static_cast<tcflag_t>(INLCR | IGNCR);
    lines.c_oflag |= OPOST | ONLCR;
    lines.c_lflag |= ICANON | ECHO | ECHOE | ECHOK;
    lines.c_lflag &= ~static_cast<tcflag_t>(ISIG);
    lines.c_cc[VEOL] = kCtrlC;
    changed_ = ::tcsetattr(fd, TCSAFLUSH, &lines) == 0;  // drops what was typed before
  }
  ~LineMode() {
    if (changed_) (void)::tcsetattr(fd_, TCSADRAIN, &before_);  // a terminal that is gone needs no settings
  }
  LineMode(const LineMode&) = delete;
  LineMode& operator=(const LineMode&) = delete;

  bool changed() const { return changed_; }

 private:
  const int fd_;
  termios before_{};
  bool changed_ = false;
};

bool IsConsent(std::string_view line) { return line == "y\n" || line == "Y\n" || line == "yes\n" || line == "YES\n"; }

// A program in the background would be stopped by the terminal.
bool CanAskOn(int terminal) { return ::tcgetpgrp(terminal) == ::getpgrp(); }

}  // namespace

class TerminalQuestions::Turn {
 public:
  explicit Turn(TerminalQuestions& questions) : questions_(questions) { questions_.open_ = true; }
  ~Turn() {
    questions_.open_ = false;
    questions_.closed_.Notify();
  }
  Turn(const Turn&) = delete;
  Turn& operator=(const Turn&) = delete;

 private:
  TerminalQuestions& questions_;
};

loop::Task<Consent> TerminalQuestions::Ask(std::string text) {
  while (open_) co_await closed_.Next();
  const OwnedFd terminal(::open("/dev/tty", O_RDWR | O_NONBLOCK | O_NOCTTY | O_CLOEXEC));
  if (!terminal.is_open() || !CanAskOn(terminal.get())) co_return Consent::kNobodyToAsk;
  const Turn turn(*this);
  const LineMode lines(terminal.get());
  if (!lines.changed() || sys::WriteAll(terminal.get(), text) != 0) co_return Consent::kNobodyToAsk;
  loop::Event readable;
  loop::FdWatch watch(loop_, terminal.get(), [&readable] { readable.Notify(); });
  for (;;) {
    watch.WatchReadable();
    co_await readable.Next();
    char line[kMaxLine];
    const ssize_t size = sys::Read(terminal.get(), line, sizeof line);
    if (size == -EAGAIN) continue;
    (void)sys::WriteAll(terminal.get(), size > 0 && line[size - 1] == '\n' ? "" : "\n");  // after Ctrl-C or Ctrl-D
    co_return size > 0 && IsConsent({line, static_cast<size_t>(size)}) ? Consent::kYes : Consent::kNo;
  }
}

}  // namespace holdfast::cli
