// Questions to the user, on the terminal that the program was started from, whatever its standard streams are. One
// question is asked at a time. While it is open, the terminal reads a whole line, also if the program has put it into
// raw mode, and no other part of the program may read or write the terminal.
//
// The command that the question is about may have written anything to the terminal before. So the terminal is brought
// into a known state and cleared, and each line of the question begins with a number that nobody could know before. The
// same number is the answer that allows the command: nothing that was typed for another text can be it.
//
// What this does not stop: other programs that write to the same terminal, such as one that shows the output of a
// command which has a pipe, and those of the same user outside of every sandbox.
#pragma once

#include <string>
#include <string_view>

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

  // Shows the text, and waits for a line. Only the number of the question means consent. What was typed before the
  // question does not count, and Ctrl-C means no. The text must have no control characters but line breaks.
  loop::Task<Consent> Ask(std::string text);

  // Returns whether a question is open, from before its first byte until its answer.
  bool open() const { return open_; }
  // This event is notified when a question has been answered.
  loop::Event& closed() { return closed_; }

 private:
  class Turn;
  class Dialogue;

  loop::EventLoop& loop_;
  bool open_ = false;
  loop::Event closed_;
};

// Returns the text with `mark` in front of each line. A line that is too long for a terminal of this width is cut into
// several, because the command chooses what is in it: the rest of it could look like another line of the question. The
// further ones have a colon behind the mark instead of a bar.
std::string MarkedLines(std::string_view text, std::string_view mark, int columns);

}  // namespace holdfast::cli
