// A variable of this process's environment.
#pragma once

#include <cstdlib>
#include <optional>
#include <string>

namespace holdfast {

// Absent when it is not set; an empty value is one.
inline std::optional<std::string> EnvironmentVariable(const char* name) {
  const char* const value = std::getenv(name);
  if (value == nullptr) return std::nullopt;
  return value;
}

}  // namespace holdfast
