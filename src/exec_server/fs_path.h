// From the text of a path in a request to a path that may be touched, or to the reason why not.
#pragma once

#include <optional>
#include <string>

#include "base/result.h"
#include "wire/sandbox_messages.h"

namespace holdfast::exec_server {

// A request that asks for a sandbox is refused: file access cannot be restricted, and is never granted in its stead.
Result<std::string> ResolvePath(const std::string& text, const std::optional<wire::Sandbox>& sandbox);

}  // namespace holdfast::exec_server
