// The numbers of signals by their POSIX names, such as "SIGTERM".
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace holdfast::sys {

std::optional<int> SignalByName(std::string_view name);

// Returns the name; the number in digits if the signal has none, as those for real time.
std::string NameOfSignal(int number);

}  // namespace holdfast::sys
