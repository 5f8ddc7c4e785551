// The file helper: does fs/* operations that it reads from standard input, inside a sandbox that others have built.
#pragma once

#include <string>
#include <vector>

namespace holdfast::files {

// Until the end of standard input, a unix stream socket that is standard output as well. Gives the exit status. The
// helper keeps the absent paths absent by itself; the others are mount points that protect what they lie over.
int RunHelper(const std::vector<std::string>& absent, const std::vector<std::string>& mounted);

}  // namespace holdfast::files
