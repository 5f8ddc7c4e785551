// What patterns match at this moment: files, and links to files, below a directory.
//
// What it does not find: what appears afterwards; directories, whose contents a pattern has to name (`secrets/**`);
// files that are reached through a linked directory only; other names (hard links) of a match.
#pragma once

#include <chrono>
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "sandbox/policy/glob_match.h"
#include "sandbox/resolve/tree_walk.h"

namespace holdfast::sandbox {

struct GlobSearch {
  std::string root;  // absolute; need not exist
  std::vector<Glob> globs;
  std::optional<size_t> max_depth = {};  // 1: what is directly in `root`
  TreeVisitor* companion = nullptr;      // looks for something else on the same walk, which enters what it enters too
};

struct GlobScanOptions {
  std::chrono::milliseconds time_limit = std::chrono::seconds(30);
  size_t max_matches = 8192;
};

// Whether the walk comes into every directory of the tree: a companion adds no more than the look at each name.
bool SeesEverything(const GlobSearch& search);

// The matches, where links among them lead, and, when there is a link on the way to the root, the matches by their path
// without it; sorted. Fails when a directory cannot be read, and at a limit.
Result<std::vector<std::string>> ScanGlobs(const std::vector<GlobSearch>& searches, const GlobScanOptions& options);

}  // namespace holdfast::sandbox
