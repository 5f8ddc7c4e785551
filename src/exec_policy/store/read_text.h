// ReadText reads a rules file to its end.
#pragma once

#include <string>

#include "base/result.h"

namespace holdfast::exec_policy {

// Reads from a regular file. Fails if the text is longer than the interpreter takes. `path` is used in error messages.
Result<std::string> ReadText(int fd, const std::string& path);

}  // namespace holdfast::exec_policy
