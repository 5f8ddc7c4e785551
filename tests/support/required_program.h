// Checks for things that tests need and that a user's machine may not have, most of them programs.
#pragma once

#include <optional>
#include <string>

namespace holdfast::support {

// Returns the path of a program; nothing if it is not installed.
std::optional<std::string> PathOfProgram(const std::string& name);

// Returns whether the program is installed. If not, the test is skipped, or fails if HOLDFAST_CI is in the environment:
// tools/packages.txt has to name every program that tests require.
[[nodiscard]] bool RequireProgram(const std::string& name);

// The same for anything else. `why_not` is the reason why the test cannot have it; empty if it can.
[[nodiscard]] bool RequireAvailable(const std::string& why_not);

// The same for a program that not even CI has to have: without it the test is skipped.
[[nodiscard]] bool WantProgram(const std::string& name);

}  // namespace holdfast::support
