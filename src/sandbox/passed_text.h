// Text that another process passes by descriptor: a profile, or the orders of the inner stage.
#pragma once

#include <string>

#include "base/result.h"

namespace holdfast::sandbox {

// All that can be read from `fd`, which is closed afterwards: it is not the command's. 16 MiB at most.
Result<std::string> ReadPassedText(int fd);

}  // namespace holdfast::sandbox
