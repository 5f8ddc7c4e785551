// The bubblewrap that is delivered with the sandbox.
#pragma once

#include <string_view>

namespace holdfast::sandbox {

// Returns the SHA-256 that the bundled program must have. The build has computed it.
std::string_view BundledBubblewrapDigest();

}  // namespace holdfast::sandbox
