// Git repositories inside of a project, found by a bounded look at its directories.
//
// What it does not find: repositories deeper than the bounds, in a linked directory, in `node_modules`, or made after
// the look. A command can push one out of the bounds for the commands after it by making many directories.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace holdfast::sandbox {

// The look is paid at every start of a command, so it is short: about a millisecond in a large tree.
struct NestedSearch {
  std::string root = {};
  size_t max_depth = 4;  // of a repository; 1: directly in `root`
  size_t max_listed = 64, max_entries = 4096;
  size_t max_probed = 256;  // directories that are not listed, only asked for a `.git`, which is much cheaper
  size_t max_repositories = 64;
};

// The paths of their `.git`, of whatever kind, the nearest first; without that of `root`. Of a directory that may not
// be listed its own path, for there may be some below it. Those for which `enter` says no are left out.
Result<std::vector<std::string>> FindNestedGit(const NestedSearch& search,
                                               const std::function<bool(const std::string& path)>& enter);

}  // namespace holdfast::sandbox
