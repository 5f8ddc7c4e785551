// The warnings about the sandbox of the user's private server.
#pragma once

#include <string_view>

namespace holdfast::cli {

// Prints the startup warnings (doctor/startup_warnings.h) to standard error, as messages of `who`, if the caller is the
// first since the private server was started. Otherwise, and where no private server was started, it prints nothing.
// The first call tries out the sandbox, which takes some milliseconds, and up to 3 s where something is wrong.
void PrintSandboxWarningsOnce(std::string_view who);

}  // namespace holdfast::cli
