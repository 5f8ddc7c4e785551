// The bubblewrap that is delivered with the sandbox.
#pragma once

#include <string_view>

namespace holdfast::sandbox {

// The SHA-256 that it must have, as the build has measured it.
std::string_view BundledBubblewrapDigest();

}  // namespace holdfast::sandbox
