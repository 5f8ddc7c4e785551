// A program run to its end, or to the end of its time. Blocks; may be called from any thread.
//
// What outlives the program by itself is not found: what is run here dies with its parent.
#pragma once

#include <chrono>
#include <string>
#include <vector>

namespace holdfast::doctor {

struct LimitedRun {
  std::string program;                      // a path
  std::vector<std::string> arguments;       // with the name it is started under
  std::vector<std::string> variables = {};  // NAME=value, instead of those of the same name
  int input = -1;                           // becomes descriptor 0; -1: /dev/null
  std::chrono::milliseconds limit;
};

struct RunOutcome {
  enum class Kind { kEnded, kTimedOut, kNotStarted };
  Kind kind = Kind::kEnded;
  int status = 0;        // 128 + N after signal N
  std::string out, err;  // the beginning of each; for kNotStarted `err` says why

  bool succeeded() const { return kind == Kind::kEnded && status == 0; }
};

// The program is in a process group of its own, which is killed when the time is over.
RunOutcome RunLimited(const LimitedRun& run);

}  // namespace holdfast::doctor
