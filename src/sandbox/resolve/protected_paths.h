// What tools run without being asked, and a command must therefore not change: git's hooks and configuration, the
// settings of agents, credentials. Adds rules that make them read-only; none that makes anything readable or writable.
//
//  - Directly below each writable root: kProtectedNames, whether they are there or not. Where `.git` is a file or a
//    link that leads elsewhere, also the git directory, and for a worktree the one it shares.
//  - In repositories further below: all of a `.git` that is a directory or a file. Hooks and configuration alone are
//    not enough: a `commondir` beside them names others. Commands can make such repositories: what lies in them stops
//    no start, and closes nothing but `hooks` or `config` of a git directory that theirs are links to.
//
// What it does not stop: a repository that the command makes; a nested `.git` that is a link; where the `.git` file or
// the `commondir` of a nested repository leads; nested repositories out of the bounds of nested_repositories.h; a bare
// repository (a directory that is a git directory itself); files that other tools run, such as a Makefile.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "sandbox/resolve/protected_names.h"
#include "sandbox/resolve/resolution.h"

namespace holdfast::sandbox {

// A writable root whose directories have been searched for repositories.
struct SearchedRoot {
  std::string path;
  std::vector<std::string> repositories;  // as nested_repositories.h gives them
};

// A path that a rule names explicitly is left as the rule has it.
Result<> AddProtectedPaths(Resolution& resolution, const std::vector<SearchedRoot>& searched_roots);

}  // namespace holdfast::sandbox
