// Times as people write them: "90s", "5m", "1h30m", "250ms".
#pragma once

#include <chrono>
#include <string>
#include <string_view>

#include "base/result.h"

namespace holdfast::cli {

// A number without a unit means seconds. The units are ms, s, m, h and d; larger ones stand before smaller ones.
Result<std::chrono::milliseconds> ParseDuration(std::string_view text);

// Returns a time in at most two units, such as "3m 5s".
std::string DurationText(std::chrono::milliseconds duration);

}  // namespace holdfast::cli
