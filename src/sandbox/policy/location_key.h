// Where an entry of a profile file applies, made from its key. Errors hold the reason only.
#pragma once

#include <string_view>

#include "base/result.h"
#include "sandbox/policy/policy.h"

namespace holdfast::sandbox {

using Where = decltype(Entry::where);

// A place (":root"), an absolute path or pattern, or one below `home` ("~/x").
Result<Where> WhereIs(std::string_view key, std::string_view home);

// A path or pattern below each project root.
Result<Where> WhereInProject(std::string_view key);

}  // namespace holdfast::sandbox
