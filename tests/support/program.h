// A program that a test runs. The test reads its output from pipes, and its input is empty. The destructor kills it.
#pragma once

#include <sys/types.h>
#include <unistd.h>

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/owned_fd.h"

namespace holdfast::support {

struct Outcome {
  int status;  // 128 + N after a signal
  std::string out, err;
};

class Program {
 public:
  // The program gets `inherited` as descriptor 3. `fork` makes its process, and returns as fork(2) does.
  explicit Program(const std::vector<std::string>& words, int inherited = -1,
                   const std::function<pid_t()>& fork = ::fork);
  ~Program();
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;

  void Signal(int signal) const;
  void AwaitOutput(std::string_view text);
  Outcome Finish();

  pid_t pid() const { return pid_; }

 private:
  pid_t pid_ = -1;
  OwnedFd out_, err_;
  std::string out_text_, err_text_;
};

}  // namespace holdfast::support
