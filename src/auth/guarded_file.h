// Files by which the owner of a server decides about access, such as those of tokens and secrets. No other user may
// be able to change such a file.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <string>

#include "base/result.h"

namespace holdfast::auth {

struct GuardedText {
  std::string text;
  mode_t mode = 0;
};

// Reads the file. It must be a regular file of this user or of root that no other user may change, and not be longer
// than `max_bytes`. The directories above it are not looked at. The error never contains a part of the text.
Result<GuardedText> ReadGuardedFile(const std::string& path, size_t max_bytes);

}  // namespace holdfast::auth
