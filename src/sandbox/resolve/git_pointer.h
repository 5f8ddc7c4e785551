// Where git looks for a repository: git directories, and the small files by which one can lie somewhere else.
#pragma once

#include <optional>
#include <string>

namespace holdfast::sandbox {

// Where a `.git` that is a file says that the git directory is. Absent when it is no such file.
std::optional<std::string> PointedGitDirectory(const std::string& git_file);

// The directory that a worktree's git directory shares with others: theirs are the hooks and the configuration. Absent
// when it is on its own.
std::optional<std::string> CommonGitDirectory(const std::string& git_directory);

// Whether git would take the directory for one, by what is in it: `HEAD`, `objects` and `refs`.
bool IsGitDirectory(const std::string& directory);

}  // namespace holdfast::sandbox
