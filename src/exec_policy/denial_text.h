// The text that a caller reads on its standard error when a program is not executed.
#pragma once

#include <string>
#include <string_view>

namespace holdfast::exec_policy {

// The reason of a denial for which the rules give none.
inline constexpr std::string_view kForbiddenByPolicy = "Execution forbidden by policy";

// Returns "Execution denied: REASON", with kForbiddenByPolicy in the place of an empty reason.
inline std::string DenialText(std::string_view reason) {
  return std::string("Execution denied: ").append(reason.empty() ? kForbiddenByPolicy : reason);
}

}  // namespace holdfast::exec_policy
