// Questions to the user, on the terminal that the program was started from, whatever its standard streams are. One
// question is asked at a time. While it is open, the terminal reads a whole line, also if the program has put it into
// raw mode, and no other part of the program may read the terminal.
#pragma once

#include <string>

#include "loop/event.h"
#include "loop/event_loop.h"
#include "loop/task.h"

namespace holdfast::cli {

enum class Consent { kYes, kNo, kNobodyToAsk };

class TerminalQuestions {
 public:
  explicit TerminalQuestions(loop::EventLoop& loop) : loop_(loop) {}
  TerminalQuestions(const TerminalQuestions&) = delete;
  TerminalQuestions& operator=(const TerminalQuestions&) = delete;

  // Shows the text, and waits for a line. Only `y` and `yes` mean consent. What was typed before the question does not
  // count, and Ctrl-C means no. The text must have no control characters but line breaks.
  loop::Task<Consent> Ask(std::string text);

  bool open() const { return open_; }
  // This event is notified when a question has been answered.
  loop::Event& closed() { return closed_; }

 private:
  class Turn;

  loop::EventLoop& loop_;
  bool open_ = false;
  loop::Event closed_;
};

}  // namespace holdfast::cli
