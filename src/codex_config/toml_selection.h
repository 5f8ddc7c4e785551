// The part of a configuration file that a client asks for.
#pragma once

#include <string>
#include <vector>

#include "base/toml.h"

namespace holdfast::codex_config {

// Returns a table with the values at these paths, each of which is a list of keys, and nothing else. A path that leads
// beyond a value that is not a table stands for that value.
toml::table Select(const toml::table& table, const std::vector<std::vector<std::string>>& paths);

// Returns the text of a table, with its keys sorted.
std::string TomlText(const toml::table& table);

}  // namespace holdfast::codex_config
