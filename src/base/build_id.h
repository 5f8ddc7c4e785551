// The identity that the linker gave the running program: a digest of what it linked. Builds of other sources, or with
// other compilers or flags, have another one.
#pragma once

#include <string>

namespace holdfast {

// Lower-case hex; empty if the program was linked without one.
std::string BuildId();

}  // namespace holdfast
