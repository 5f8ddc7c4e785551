// What a file operation touches, for whoever keeps operations in order.
#pragma once

#include <string>

namespace holdfast::files {

enum class Access { kRead, kWrite };

struct Claim {
  std::string path;
  Access access;
};

}  // namespace holdfast::files
