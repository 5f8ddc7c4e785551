// The small files by which a git directory can lie somewhere else.
#pragma once

#include <optional>
#include <string>

namespace holdfast::sandbox {

// Where a `.git` that is a file says that the git directory is. Absent when it is no such file.
std::optional<std::string> PointedGitDirectory(const std::string& git_file);

// The directory that a worktree's git directory shares with others: theirs are the hooks and the configuration. Absent
// when it is on its own.
std::optional<std::string> CommonGitDirectory(const std::string& git_directory);

}  // namespace holdfast::sandbox
