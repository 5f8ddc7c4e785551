// The file helper: does fs/* operations that it reads from standard input, inside a sandbox that others have built.
#pragma once

#include <string>
#include <vector>

namespace holdfast::fs_helper {

// Until the end of standard input, a unix stream socket that is standard output as well. Gives the exit status. The
// helper keeps the names absent that nothing is mounted over.
int RunHelper(const std::vector<std::string>& absent_paths);

}  // namespace holdfast::fs_helper
