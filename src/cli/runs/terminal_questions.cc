#include "cli/runs/terminal_questions.h"

#include <fcntl.h>
#include <termios.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <utility>

#include <fmt/format.h>

#include "base/environment_variable.h"
#include "base/owned_fd.h"
#include "base/parse_number.h"
#include "base/random_id.h"
#include "cli/terminal/screen.h"
#include "sys/io.h"

namespace holdfast::cli {
namespace {

constexpr cc_t kCtrlC = 3;
constexpr size_t kMaxLine = 4096;
constexpr int kFewestCells = 20;

// The terminal reads lines with an echo for as long as this object exists, and then has its settings from before.
// Ctrl-C ends a line instead of raising a signal, which would end the program or reach the command. The kernel stops a
// job in the background that writes to the terminal, such as another `holdfast run`, whose output could change the
// question.
class LineMode {
 public:
  explicit LineMode(int fd) : fd_(fd) {
    if (::tcgetattr(fd, &before_) < 0) return;
    termios lines = before_;
    lines.c_iflag |= ICRNL;
    lines.c_iflag &= ~static_cast<tcflag_t>(INLCR | IGNCR);
    lines.c_oflag |= OPOST | ONLCR;
    lines.c_lflag |= ICANON | ECHO | ECHOE | ECHOK | TOSTOP;
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

// Returns a number of three digits.
std::string RandomMark() {
  const std::string digits = RandomSecret();
  constexpr uint32_t kFirst = 100, kCount = 900;
  return std::to_string(kFirst + *ParseNumber<uint32_t>(std::string_view(digits).substr(0, 8), 16) % kCount);
}

// Returns the number of bytes that fit into so many cells of a terminal. A character that is not ASCII may take two.
size_t SizeWithin(std::string_view text, int cells) {
  const auto is_inside = [](char byte) { return (static_cast<unsigned char>(byte) & 0xc0) == 0x80; };
  size_t size = 0;
  while (size < text.size()) {
    cells -= static_cast<unsigned char>(text[size]) < 0x80 ? 1 : 2;
    if (cells < 0) break;
    do ++size;
    while (size < text.size() && is_inside(text[size]));
  }
  return size;
}

// A terminal that knows no sequences cannot be misled by any either.
bool KnowsSequences() { return EnvironmentVariable("TERM").value_or("dumb") != "dumb"; }

std::string ScreenFor(int terminal) {
  if (!KnowsSequences()) return "\n";
  return CleanScreen(WindowSizeOf(terminal).value_or(sys::WindowSize()).rows);
}

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

// The terminal of a question, read and written without ever waiting for it.
class TerminalQuestions::Dialogue {
 public:
  Dialogue(loop::EventLoop& loop, int terminal)
      : terminal_(terminal), watch_(loop, terminal, [this] { readable_.Notify(); }, [this] { writable_.Notify(); }) {}
  Dialogue(const Dialogue&) = delete;
  Dialogue& operator=(const Dialogue&) = delete;

  // Returns false if the terminal is gone.
  loop::Task<bool> Show(std::string text) {
    for (std::string_view rest = text; !rest.empty();) {
      const ssize_t written = sys::Write(terminal_, rest.data(), rest.size());
      if (written < 0 && written != -EAGAIN) co_return false;
      if (written > 0) rest.remove_prefix(static_cast<size_t>(written));
      if (rest.empty()) break;
      watch_.WatchWritable();
      co_await writable_.Next();
    }
    co_return true;
  }

  // Returns what was typed, with its line break; without one after Ctrl-C, Ctrl-D and the end of the terminal.
  loop::Task<std::string> ReadLine() {
    char line[kMaxLine];
    for (;;) {
      watch_.WatchReadable();
      co_await readable_.Next();
      const ssize_t size = sys::Read(terminal_, line, sizeof line);
      if (size != -EAGAIN) co_return std::string(line, static_cast<size_t>(std::max<ssize_t>(0, size)));
    }
  }

 private:
  const int terminal_;
  loop::Event readable_, writable_;
  loop::FdWatch watch_;
};

loop::Task<Consent> TerminalQuestions::Ask(std::string text) {
  while (open_) co_await closed_.Next();
  const OwnedFd terminal(::open("/dev/tty", O_RDWR | O_NONBLOCK | O_NOCTTY | O_CLOEXEC));
  if (!terminal.is_open() || !CanAskOn(terminal.get())) co_return Consent::kNobodyToAsk;
  const Turn turn(*this);
  const LineMode lines(terminal.get());
  if (!lines.changed()) co_return Consent::kNobodyToAsk;
  const std::string mark = RandomMark();
  Dialogue dialogue(loop_, terminal.get());
  const int columns = WindowSizeOf(terminal.get()).value_or(sys::WindowSize()).cols;
  std::string question = ScreenFor(terminal.get()) + MarkedLines(text, mark, columns);
  bool is_shown = co_await dialogue.Show(std::move(question));
  (void)::tcflush(terminal.get(), TCIFLUSH);  // drops what was typed while the terminal was slow
  std::string prompt = fmt::format("{0} | Type {0} to allow it, anything else to refuse it: ", mark);
  is_shown = is_shown && co_await dialogue.Show(std::move(prompt));
  if (!is_shown) co_return Consent::kNobodyToAsk;
  const std::string line = co_await dialogue.ReadLine();
  if (!line.ends_with('\n')) (void)co_await dialogue.Show("\n");
  co_return line == mark + "\n" ? Consent::kYes : Consent::kNo;
}

std::string MarkedLines(std::string_view text, std::string_view mark, int columns) {
  constexpr std::string_view kBar = " | ", kColon = " : ";
  const int room = columns - static_cast<int>(mark.size() + kBar.size()) - 1;
  std::string marked;
  while (!text.empty()) {
    std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(text.size(), line.size() + 1));
    std::string_view sign = kBar;
    do {
      const size_t size = SizeWithin(line, std::max(kFewestCells, room));
      marked += fmt::format("{}{}{}\n", mark, sign, line.substr(0, size));
      line.remove_prefix(size);
      sign = kColon;
    } while (!line.empty());
  }
  return marked;
}

}  // namespace holdfast::cli
