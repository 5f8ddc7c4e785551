// Checks for programs that tests run and that a user's machine may not have.
#pragma once

#include <string>

namespace holdfast::support {

// Returns whether the program is installed. If not, the test is skipped, or fails if HOLDFAST_CI is in the environment:
// tools/packages.txt has to name every program that tests require.
[[nodiscard]] bool RequireProgram(const std::string& name);

// The same for a program that not even CI has to have: without it the test is skipped.
[[nodiscard]] bool WantProgram(const std::string& name);

}  // namespace holdfast::support
