// A Swapper is a process that exchanges two names, as fast as it can, until this object is destroyed.
#pragma once

#include <sys/types.h>

#include <string>

namespace holdfast::support {

class Swapper {
 public:
  Swapper(const std::string& a, const std::string& b);
  ~Swapper();
  Swapper(const Swapper&) = delete;
  Swapper& operator=(const Swapper&) = delete;

 private:
  pid_t pid_;
};

}  // namespace holdfast::support
