// Protected paths are files that tools run or trust without asking, so that a command must not change them: git's hooks
// and configuration, the settings of agents, credentials. AddProtectedPaths adds rules that make them read-only, and no
// rule that makes anything readable or writable. It protects:
//
//  - directly below each writable root, kProtectedNames, whether they exist or not. Where `.git` is a file that leads
//    elsewhere, also the git directory that it leads to, and for a worktree the common directory.
//  - where such a name is a link, the link itself (Resolution::kept), the links and directories by which it leads on,
//    and what it leads to, if the command could write that. A rule of the policy about a name that is such a link, or
//    about a path below it, applies to what the link leads to, if the rule grants nothing. Nothing that a link leads to
//    can stop a start: it is left open if it is, or contains, a writable root, a project root or the directory of the
//    link, if it is in /proc, or if more than kMaxNamesOfLink names lead to it and no rule of the policy is about it.
//    So is what the links of other users in directories like /tmp lead to, because the kernel follows no such link
//    (protected_symlinks).
//  - in repositories further below, all of a `.git` that is a directory or a file. To protect hooks and configuration
//    alone would not be enough: a `commondir` beside them names others. Commands can make such repositories themselves.
//    So nothing in them can stop a start, or make other paths read-only than the `hooks` or `config` of another git
//    directory that a link in theirs leads to.
//  - with backends that mount by descriptor, also a nested `.git` that is a link, and what GitElsewhere finds for a
//    nested `.git`. A command can make a directory look like a git directory and name it, so that the commands after it
//    can only read it. It could have removed that directory as well. It cannot close a directory that is, or contains,
//    a writable root, a project root or the repository itself, and no more than kMaxElsewhere files and directories.
//
// What it does not stop: changes of a repository that the command makes; of nested repositories beyond the bounds of
// nested_repositories.h; of a bare repository (a directory that is itself a git directory); of files that other tools
// run, such as a Makefile.
#pragma once

#include <cstddef>
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

// A bound for each protected name that is a link. Each name on the way to a path may become a mount.
inline constexpr size_t kMaxNamesOfLink = 128;

// The bounds of Resolution::nested_git.elsewhere.
inline constexpr size_t kMaxElsewhere = 64, kMaxNamesElsewhere = 512;

// Adds the rules, and fills in Resolution::nested_git. A path that a rule of the policy names explicitly keeps the
// access of that rule.
Result<> AddProtectedPaths(Resolution& resolution, const std::vector<SearchedRoot>& searched_roots,
                           const std::vector<std::string>& project_roots);

}  // namespace holdfast::sandbox
