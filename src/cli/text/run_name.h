// The names of runs. A run that is not given a name gets one that people can remember and type: "brave-otter-42".
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace holdfast::cli {

std::string RandomRunName();

// Returns whether a session can have this name: it has 1 to 64 of the characters A-Z a-z 0-9 . _ -, and is not . or ..
// Other clients may have given a run such a name.
bool IsRunName(std::string_view name);

// Refuses a name for a run that is started here: it is one that a session can have, and begins with a letter or a
// digit.
Result<> CheckRunName(std::string_view name);

}  // namespace holdfast::cli
