// The numbers of signals by their POSIX names, such as "SIGTERM".
#pragma once

#include <optional>
#include <string_view>

namespace holdfast::sys {

std::optional<int> SignalByName(std::string_view name);

}  // namespace holdfast::sys
