// Words of the form NAME=VALUE, which shells, env and sudo take for variables in front of a command.
#pragma once

#include <algorithm>
#include <cstddef>
#include <string_view>

namespace holdfast::exec_policy {

inline bool IsAssignment(std::string_view word) {
  const size_t equals = word.find('=');
  if (equals == 0 || equals == std::string_view::npos) return false;
  const auto belongs_to_name = [](char c) {
    return c == '_' || (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z');
  };
  return !(word[0] >= '0' && word[0] <= '9') && std::ranges::all_of(word.substr(0, equals), belongs_to_name);
}

}  // namespace holdfast::exec_policy
