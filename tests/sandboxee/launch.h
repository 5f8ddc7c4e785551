// A launch starts a program as another user, with chosen descriptors and nothing else of the test's.
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

namespace holdfast::sandboxee {

using Strings = std::vector<std::string>;

struct Launch {
  uid_t user;  // the user and group of the program; only root can choose another user
  Strings words, environment;
  std::string directory;
  int standard_input = -1;  // -1: /dev/null
  int third = -1;           // the descriptor that becomes descriptor 3
};

struct Outcome {
  int status;  // 128 + N after a signal
  std::string out, err;
};

// Runs a program in a session of its own. A program that does not end is killed, and the test fails.
Outcome RunToEnd(const Launch& launch);

// Sleeper is a process that is started in the same way and waits. It is killed with this object.
class Sleeper {
 public:
  Sleeper(uid_t user, const std::string& directory);
  ~Sleeper();
  Sleeper(const Sleeper&) = delete;
  Sleeper& operator=(const Sleeper&) = delete;

  pid_t pid() const { return pid_; }

 private:
  pid_t pid_;
};

}  // namespace holdfast::sandboxee
