// The input relay passes standard input of this program on to a process, until either of them ends. If standard input
// is the terminal and in raw mode, the escape keys are not passed on.
#pragma once

#include <unistd.h>

#include <optional>
#include <string>

#include "cli/runs/driver.h"
#include "cli/runs/terminal_questions.h"
#include "cli/runs/wakeup.h"
#include "cli/terminal/escape_keys.h"
#include "cli/terminal/local_io.h"
#include "loop/event.h"
#include "loop/event_loop.h"
#include "loop/scope.h"
#include "loop/task.h"

namespace holdfast::cli {

class InputRelay {
 public:
  // `changed` is notified when there is an action. Without `keys` no key is special. Nothing is read while one of
  // `questions` is open.
  InputRelay(loop::EventLoop& loop, Driver& driver, TerminalQuestions& questions, std::optional<EscapeKeys> keys,
             Wakeup& changed);
  InputRelay(const InputRelay&) = delete;
  InputRelay& operator=(const InputRelay&) = delete;

  void Start() { scope_.Start(Feed()); }
  // Looks again whether standard input may be read, after this program was continued in the foreground.
  void Wake() { continued_.Notify(); }

  // Returns what the user has asked for by an escape key, once.
  std::optional<EscapeKeys::Action> TakeAction();

 private:
  loop::Task<> Feed();
  loop::Task<Result<>> PassOn(std::string_view bytes);

  Driver& driver_;
  TerminalQuestions& questions_;
  std::optional<EscapeKeys> keys_;
  Wakeup& changed_;
  loop::Event readable_, continued_;
  LocalInput stdin_{STDIN_FILENO};
  loop::FdWatch watch_;
  std::optional<EscapeKeys::Action> action_;
  loop::Scope scope_;
};

}  // namespace holdfast::cli
