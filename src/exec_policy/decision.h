// The decision of a rule about a command.
#pragma once

#include <string_view>

namespace holdfast::exec_policy {

// The order is that of strictness: of several decisions the last one here wins.
enum class Decision { kAllow, kPrompt, kForbidden };

// Returns the word that rules use: allow, prompt or forbidden.
std::string_view WordOf(Decision decision);

}  // namespace holdfast::exec_policy
