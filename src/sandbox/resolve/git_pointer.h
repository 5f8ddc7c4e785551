// Functions that find git directories as git does, following the small files by which a git directory can lie somewhere
// else than in `.git`.
#pragma once

#include <optional>
#include <string>

namespace holdfast::sandbox {

// Returns the git directory that a `.git` file names behind `gitdir:`. Absent when it is not such a file.
std::optional<std::string> PointedGitDirectory(const std::string& git_file);

// Returns the common directory of a worktree's git directory, which all worktrees of the repository share. The hooks
// and the configuration are in the common directory. Absent when the git directory has no `commondir` file.
std::optional<std::string> CommonGitDirectory(const std::string& git_directory);

// Returns whether git would accept the directory as a git directory, because it contains `HEAD`, `objects` and `refs`.
bool IsGitDirectory(const std::string& directory);

}  // namespace holdfast::sandbox
