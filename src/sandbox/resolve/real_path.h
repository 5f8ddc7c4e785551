// This function follows all links of a path.
#pragma once

#include <optional>
#include <string>

namespace holdfast::sandbox {

// Returns where the path leads, without links. Absent when it leads nowhere, or through a directory that this process
// may not search.
std::optional<std::string> RealPath(const std::string& path);

}  // namespace holdfast::sandbox
