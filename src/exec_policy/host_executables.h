// The paths that host_executable() allows for the names of programs.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "exec_policy/evaluation.h"

namespace holdfast::exec_policy {

class HostExecutables {
 public:
  // Replaces an earlier definition of the name. Fails if `name` is not a bare name, or if a path is not absolute, has
  // another base name or is longer than any path can be.
  Result<> Define(std::string name, const std::vector<std::string>& paths);

  // Returns whether rules about the base name of an absolute path apply to the program at the path: they do if the name
  // was not defined, or the path is one of its paths.
  bool Allow(std::string_view path) const;

  // Returns the absolute path of a program, without `.` and `..`, to which rules about its base name apply; nothing if
  // none do. A relative program is below the current directory, and one that begins with `~/` below the home directory.
  // Links are not followed. No rule applies to a path that is longer than any path can be.
  std::optional<std::string> Resolve(std::string_view program, const Places& places) const;

 private:
  std::map<std::string, std::set<std::string, std::less<>>, std::less<>> paths_;
};

}  // namespace holdfast::exec_policy
