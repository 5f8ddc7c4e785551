#include "sandbox/bubblewrap/bundled_bubblewrap.h"

namespace holdfast::sandbox {

std::string_view BundledBubblewrapDigest() { return HOLDFAST_BWRAP_SHA256; }

}  // namespace holdfast::sandbox
