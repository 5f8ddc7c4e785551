// Functions that find git directories as git does, following the small files by which a git directory can lie somewhere
// else than in `.git`.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace holdfast::sandbox {

// Returns the git directory that a `.git` file names behind `gitdir:`. Absent when it is not such a file.
std::optional<std::string> PointedGitDirectory(const std::string& git_file);

// Returns the common directory of a worktree's git directory, which all worktrees of the repository share. The hooks
// and the configuration are in the common directory. Absent when the git directory has no `commondir` file.
std::optional<std::string> CommonGitDirectory(const std::string& git_directory);

// Returns whether git would accept the directory as a git directory, because it contains `HEAD`, `objects` and `refs`.
bool IsGitDirectory(const std::string& directory);

// Returns what git reads instead of `git`, the `.git` of a repository, or besides it: where `git` is a link, the file
// or directory that it leads to; where this is a file, the git directory that the file names; and the common directory.
// The paths have no links. Empty when git would not accept them as one repository.
std::vector<std::string> GitElsewhere(const std::string& git);

}  // namespace holdfast::sandbox
