// RunLimited runs a program until it ends or its time is over. It blocks, and may be called from any thread.
//
// It does not look for processes that outlive the program: the programs that are run here leave only processes that die
// with their parent.
#pragma once

#include <chrono>
#include <string>
#include <vector>

namespace holdfast::doctor {

struct LimitedRun {
  std::string program;                      // a path
  std::vector<std::string> arguments;       // argv, from the name of the program on
  std::vector<std::string> variables = {};  // NAME=value; they replace environment variables of the same name
  int input = -1;                           // becomes descriptor 0; -1 stands for /dev/null
  std::chrono::milliseconds limit;
};

struct RunOutcome {
  enum class Kind { kEnded, kTimedOut, kNotStarted };
  Kind kind = Kind::kEnded;
  int status = 0;        // 128 + N after signal N
  std::string out, err;  // the beginning of each output; for kNotStarted `err` is the reason

  bool succeeded() const { return kind == Kind::kEnded && status == 0; }
};

// Runs the program in a process group of its own, which is killed when the time is over.
RunOutcome RunLimited(const LimitedRun& run);

}  // namespace holdfast::doctor
