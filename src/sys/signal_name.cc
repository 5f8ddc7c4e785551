#include "sys/signal_name.h"

#include <csignal>
#include <cstring>

namespace holdfast::sys {

std::optional<int> SignalByName(std::string_view name) {
  if (!name.starts_with("SIG")) return std::nullopt;
  name.remove_prefix(3);
  for (int signal = 1; signal < NSIG; ++signal) {
    const char* abbreviation = ::sigabbrev_np(signal);
    if (abbreviation != nullptr && name == abbreviation) return signal;
  }
  return std::nullopt;
}

std::string NameOfSignal(int number) {
  const char* abbreviation = ::sigabbrev_np(number);
  return abbreviation != nullptr ? std::string("SIG") + abbreviation : std::to_string(number);
}

}  // namespace holdfast::sys
