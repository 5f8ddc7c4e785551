// The console connects a process of a run with the streams, the terminal and the signals of this program, so that it
// feels as if the process ran here.
#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string>

#include "cli/connect/invocation.h"
#include "cli/runs/terminal_questions.h"
#include "cli/terminal/escape_keys.h"
#include "client/exec_server_client.h"
#include "client/process.h"
#include "loop/task.h"

namespace holdfast::cli {

struct ConsoleOptions {
  enum class Streams { kPipes, kTerminal };

  std::string run_name;
  Streams streams = Streams::kPipes;  // of the process
  EscapeKeys keys;
  TerminalQuestions& questions;  // input is not read while a question is open
  std::optional<std::chrono::milliseconds> time_limit = {};
};

// The end of a conversation. A run that was left goes on. kGivenUp: the user has asked for the end twice, and the
// command has not ended.
struct ConsoleEnd {
  enum class How { kFinished, kLeft, kGivenUp };
  How how = How::kFinished;
  int status = 0;  // the exit status of this program
};

// The exit statuses of `run` and `attach` besides those of the command, as those of timeout(1) and of shells.
inline constexpr int kTimedOut = 124, kOwnFailure = 125, kCannotExecute = 126, kNoSuchCommand = 127;

// Runs until the process has ended, the user detaches or asks for the end again and again, or something fails. A
// failure has been reported then. Processes that a command has left behind may hold its output open for ever. So, when
// the command has ended, the conversation ends too: shortly afterwards in a terminal, and in pipes as soon as the user
// asks for the end, or the time limit is reached.
loop::Task<ConsoleEnd> Converse(Invocation& invocation, client::ExecServerClient& client,
                                std::shared_ptr<client::Process> process, ConsoleOptions options);

}  // namespace holdfast::cli
