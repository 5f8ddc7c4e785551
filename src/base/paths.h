// Paths by their names alone, without a look at the file system: links are not followed. They are absolute and
// normalised, as ParsePath gives them: no `.`, `..` or empty component, and no slash at the end but in `/` itself. What
// is not normalised is compared all the same, but `/a/` is then another directory than `/a`.
#pragma once

#include <string_view>

namespace holdfast {

// Of `/`, and of a single relative name, it is `/`: who goes up arrives there.
std::string_view ParentOf(std::string_view path);

// The last component; empty of `/`. Of a relative path too.
std::string_view NameOf(std::string_view path);

// By whole components: `/ab` is not below `/a`. Two relative paths are compared likewise; a relative and an absolute
// one are never below each other, and nothing is below an empty one.
bool IsBelow(std::string_view path, std::string_view directory);  // strictly
bool IsAtOrBelow(std::string_view path, std::string_view directory);

}  // namespace holdfast
