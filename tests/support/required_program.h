// Programs that tests drive and a user's machine may lack.
#pragma once

#include <string>

namespace holdfast::support {

// Where it is not installed, the test is skipped; with HOLDFAST_CI in the environment it fails: tools/packages.txt is
// to name what it needs. False in both cases.
[[nodiscard]] bool RequireProgram(const std::string& name);

// The same for one that is too much to ask for: the test is skipped everywhere.
[[nodiscard]] bool WantProgram(const std::string& name);

}  // namespace holdfast::support
