// A passed text is one that another process passes by descriptor: a profile, or the orders of the inner stage.
#pragma once

#include <string>

#include "base/result.h"

namespace holdfast::sandbox {

// Reads `fd` to its end, and closes it so that the command does not get it. Fails when the text has more than 16 MiB.
Result<std::string> ReadPassedText(int fd);

}  // namespace holdfast::sandbox
