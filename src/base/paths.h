// Paths by their names alone, without a look at the file system: links are not followed. They are absolute and
// normalised, as ParsePath gives them: no `.`, `..` or empty component, and no slash at the end but in `/` itself. What
// is not normalised is compared all the same, but `/a/` is then another directory than `/a`.
#pragma once

#include <string_view>
#include <vector>

namespace holdfast {

// Of `/`, and of a single relative name, it is `/`: who goes up arrives there.
std::string_view ParentOf(std::string_view path);

// The last component; empty of `/`. Of a relative path too.
std::string_view NameOf(std::string_view path);

// By whole components: `/ab` is not below `/a`. Two relative paths are compared likewise; a relative and an absolute
// one are never below each other, and nothing is below an empty one.
bool IsBelow(std::string_view path, std::string_view directory);  // strictly
bool IsAtOrBelow(std::string_view path, std::string_view directory);

// The components of a path that lead somewhere else: empty ones and `.` are left out. Of any path, relative or not.
std::vector<std::string_view> NamesIn(std::string_view path);

// The directories of a list such as PATH, in which an empty one means the current directory. An empty list has none.
std::vector<std::string_view> DirectoriesIn(std::string_view search_path);

}  // namespace holdfast
