// The file helper reads fs/* operations from standard input and does them. It runs inside a sandbox, which the stages
// of the helper have built before.
#pragma once

#include <string>
#include <vector>

namespace holdfast::files {

// Serves operations until the end of standard input, and returns the exit status. Standard input is a unix stream
// socket, and the answers are sent on it too. The `absent` paths have no mount, so the file helper itself makes sure
// that its operations do not create them; the `mounted` paths are mount points, and the mounts protect what is below
// them.
int RunHelper(const std::vector<std::string>& absent, const std::vector<std::string>& mounted);

}  // namespace holdfast::files
