// The scan finds the files, and the links to files, below a directory that patterns match at this moment.
//
// What it does not find: files that are created afterwards; directories (a pattern has to match the files in them, as
// in `secrets/**`); files that can be reached only through a link to a directory; other names (hard links) of a match.
#pragma once

#include <chrono>
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "sandbox/policy/glob_match.h"
#include "sandbox/resolve/tree_walk.h"
#include "sandbox/resolve/walk_memory.h"

namespace holdfast::sandbox {

struct GlobSearch {
  std::string root;  // absolute; need not exist
  std::vector<Glob> globs;
  std::optional<size_t> max_depth = {};  // 1: only the files directly in `root`
  TreeVisitor* companion = nullptr;      // shares the walk, which enters its directories too; may be null
};

struct GlobScanOptions {
  std::chrono::milliseconds time_limit = std::chrono::seconds(30);
  size_t max_matches = 8192;
  WalkMemory* memory = nullptr;  // may be null
};

// Returns whether the walk enters every directory of the tree. A companion then makes it enter no further directories,
// and costs no more than a look at each name.
bool SeesEverything(const GlobSearch& search);

// Returns the sorted paths of all matches, and of the files that links among them lead to. When the path of the root
// crosses a link, each match is also listed by its path without links. Fails when a directory cannot be read, or when a
// limit of `options` is exceeded.
Result<std::vector<std::string>> ScanGlobs(const std::vector<GlobSearch>& searches, const GlobScanOptions& options);

}  // namespace holdfast::sandbox
