// Programs that the sandbox itself uses, found by $PATH: only where no command can have put them.
//
// What it does not stop: a change of the program after the search. Who must run what was found opens it, and executes
// the descriptor.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace holdfast::sandbox {

struct ToolSearch {
  std::string_view name;
  std::string_view path_variable;          // colons between directories; relative ones are left out
  std::span<const std::string> untrusted;  // absolute places of the command; "/" is no reason for distrust
};

// The first that `accept` takes of those that are, links followed, outside of each untrusted place; as the path it is
// at without links.
std::optional<std::string> FindTool(const ToolSearch& search,
                                    const std::function<bool(const std::string& path)>& accept);

}  // namespace holdfast::sandbox
