// Signals by their POSIX names, "SIGTERM" and so on.
#pragma once

#include <optional>
#include <string_view>

namespace holdfast::sys {

std::optional<int> SignalByName(std::string_view name);

}  // namespace holdfast::sys
