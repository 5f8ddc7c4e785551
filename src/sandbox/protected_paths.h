// What tools run without being asked, and a command must therefore not change: git's hooks and configuration, the
// settings of agents, credentials. Adds rules that make them read-only; none that makes anything readable or writable.
//
//  - Directly below each writable root: kProtectedNames, whether they are there or not. Where `.git` is a file or a
//  link
//    that leads elsewhere, also the git directory, and for a worktree the one it shares.
//  - In repositories further below: `hooks` and `config`, or all of a git directory that they cannot be looked for in;
//    a `.git` that is a file. The rest stays writable: tests and package tools work in repositories of their own.
//    Commands can make such repositories: what lies in them names no further paths, and stops no start.
//
// What it does not stop: a repository that the command makes; where the `.git` file or the `commondir` of a nested
// repository leads; nested repositories out of the bounds of nested_repositories.h; a bare repository (a directory that
// is a git directory itself); files that other tools run, such as a Makefile.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "sandbox/resolution.h"

namespace holdfast::sandbox {

// A path that a rule names explicitly is left as the rule has it. `searched_roots` are the writable ones whose
// directories are searched for repositories.
Result<> AddProtectedPaths(Resolution& resolution, const std::vector<std::string>& searched_roots);

}  // namespace holdfast::sandbox
