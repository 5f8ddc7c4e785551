// Programs that run another command: those that are written in front of it, such as sudo and env, and shells with a
// script.
#pragma once

#include <optional>
#include <string_view>

#include "exec_policy/option_words.h"

namespace holdfast::exec_policy {

// Returns the command behind `sudo`, `env`, `nohup` and the like; the command itself if there is none of them.
Words Unwrapped(Words command);

// Returns the script of a command such as `bash -lc SCRIPT`.
std::optional<std::string_view> ScriptOf(Words command);

}  // namespace holdfast::exec_policy
