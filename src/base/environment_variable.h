// EnvironmentVariable returns a variable of this process's environment.
#pragma once

#include <cstdlib>
#include <optional>
#include <string>

namespace holdfast {

// Returns nothing if the variable is not set. A variable may have an empty value.
inline std::optional<std::string> EnvironmentVariable(const char* name) {
  const char* const value = std::getenv(name);
  if (value == nullptr) return std::nullopt;
  return value;
}

}  // namespace holdfast
