// Functions on paths that go by the names alone. They do not look at the file system and follow no links. Their paths
// are absolute and normalised, as ParsePath returns them: without `.`, `..` and empty components, and without a slash
// at the end except in `/` itself. A path that is not normalised is accepted too, but `/a/` is then another directory
// than `/a`.
#pragma once

#include <string_view>
#include <vector>

namespace holdfast {

// Returns the path of the directory that contains `path`. The result is `/` for `/` itself and for a single relative
// name, so a loop that goes up always arrives at `/`.
std::string_view ParentOf(std::string_view path);

// Returns the last component of an absolute or relative path; it is empty for `/`.
std::string_view NameOf(std::string_view path);

// These functions return whether `path` lies in `directory` or deeper; IsAtOrBelow also if the two are equal. They
// compare whole components: `/ab` is not below `/a`. Two relative paths are compared in the same way. A relative path
// is never below an absolute one or the other way round, and nothing is below an empty path.
bool IsBelow(std::string_view path, std::string_view directory);
bool IsAtOrBelow(std::string_view path, std::string_view directory);

// Returns the components of any path, relative or not. Empty components and `.` are left out.
std::vector<std::string_view> NamesIn(std::string_view path);

// Returns the directories in a list such as PATH. An empty entry means the current directory, but an empty list has no
// entries.
std::vector<std::string_view> DirectoriesIn(std::string_view search_path);

}  // namespace holdfast
