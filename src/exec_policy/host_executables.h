// The paths that host_executable() allows for the names of programs.
#pragma once

#include <functional>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace holdfast::exec_policy {

class HostExecutables {
 public:
  // Replaces an earlier definition of the name. Fails if `name` is not a bare name, or if a path is not absolute, has
  // another base name or is longer than any path can be.
  Result<> Define(std::string name, const std::vector<std::string>& paths);

  // What the definitions say about rules by base name for the program at a path.
  enum class Listing {
    kNone,      // the name is not defined: the rules apply to each path
    kListed,    // the rules apply, because the definition lists the path
    kExcluded,  // the rules do not apply: the definition lists other paths, or none
  };

  // `path` is absolute and has neither `.` nor `..`.
  Listing ListingOf(std::string_view path) const;

 private:
  std::map<std::string, std::set<std::string, std::less<>>, std::less<>> paths_;
};

}  // namespace holdfast::exec_policy
