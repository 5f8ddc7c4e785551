// Programs started as another user, with chosen descriptors and nothing else of the test's.
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

namespace holdfast::sandboxee {

using Strings = std::vector<std::string>;

struct Launch {
  uid_t user;  // and its group; only root can take another than its own
  Strings words, environment;
  std::string directory;
  int standard_input = -1;  // none: /dev/null
  int third = -1;           // what becomes descriptor 3
};

struct Outcome {
  int status;  // 128 + N after a signal
  std::string out, err;
};

// In a session of its own. One that does not end is killed, and the test fails.
Outcome RunToEnd(const Launch& launch);

// A process that waits, started the same way, killed with this object.
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
