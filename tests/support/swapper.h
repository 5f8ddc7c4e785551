// A Swapper is a process that exchanges two names again and again, until this object is destroyed.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <string>

namespace holdfast::support {

class Swapper {
 public:
  // Between two exchanges it rests for a random time of less than `rest`; without one, not at all.
  Swapper(const std::string& a, const std::string& b, std::chrono::milliseconds rest = {});
  ~Swapper();
  Swapper(const Swapper&) = delete;
  Swapper& operator=(const Swapper&) = delete;

 private:
  pid_t pid_;
};

}  // namespace holdfast::support
