// Where a path leads, all links followed.
#pragma once

#include <optional>
#include <string>

namespace holdfast::sandbox {

// Absent when it leads nowhere, or where this process may not look.
std::optional<std::string> RealPath(const std::string& path);

}  // namespace holdfast::sandbox
