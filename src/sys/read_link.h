// ReadLinkAt returns the text of a symbolic link.
#pragma once

#include <string>

#include "base/result.h"

namespace holdfast::sys {

Result<std::string> ReadLink(const std::string& path);

// Reads the link `name` in an open directory. With an empty name, the descriptor is that of the link itself. `path` is
// used in the error message.
Result<std::string> ReadLinkAt(int directory, const std::string& name, const std::string& path);

}  // namespace holdfast::sys
