// A claim is a path that a file operation reads or writes. Operations with claims that collide are kept in order.
#pragma once

#include <string>

namespace holdfast::files {

enum class Access { kRead, kWrite };

struct Claim {
  std::string path;
  Access access;
};

}  // namespace holdfast::files
