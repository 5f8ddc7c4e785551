// The text of a symbolic link.
#pragma once

#include <string>

#include "base/result.h"

namespace holdfast::sys {

Result<std::string> ReadLink(const std::string& path);

// `name` in an open directory; an empty name when the descriptor is of the link itself. `path` is for the message.
Result<std::string> ReadLinkAt(int directory, const std::string& name, const std::string& path);

}  // namespace holdfast::sys
