// Protected paths are files that tools run or trust without asking, so that a command must not change them: git's hooks
// and configuration, the settings of agents, credentials. AddProtectedPaths adds rules that make them read-only, and no
// rule that makes anything readable or writable. It protects:
//
//  - directly below each writable root, kProtectedNames, whether they exist or not. Where `.git` is a file or a link
//    that leads elsewhere, also the git directory that it leads to, and for a worktree the common directory.
//  - in repositories further below, all of a `.git` that is a directory or a file. To protect hooks and configuration
//    alone would not be enough: a `commondir` beside them names others. Commands can make such repositories themselves.
//    So nothing in them can stop a start, or make other paths read-only than the `hooks` or `config` of another git
//    directory that a link in theirs leads to.
//
// What it does not stop: changes of a repository that the command makes; of a nested `.git` that is a link; of the
// directories that the `.git` file or the `commondir` of a nested repository names; of nested repositories beyond the
// bounds of nested_repositories.h; of a bare repository (a directory that is itself a git directory); of files that
// other tools run, such as a Makefile.
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
  std::vector<std::string> repositories;  // the result of nested_repositories.h
};

// Adds the rules. A path that a rule of the policy names explicitly keeps the access of that rule.
Result<> AddProtectedPaths(Resolution& resolution, const std::vector<SearchedRoot>& searched_roots);

}  // namespace holdfast::sandbox
