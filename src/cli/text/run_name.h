// The names of runs. A run that is not given a name gets one that people can remember and type: "brave-otter-42".
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace holdfast::cli {

std::string RandomRunName();

// Refuses a name that a session cannot have: it has 1 to 64 of the characters A-Z a-z 0-9 . _ -, and begins with a
// letter or a digit.
Result<> CheckRunName(std::string_view name);

}  // namespace holdfast::cli
