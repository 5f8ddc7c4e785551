// The build id of the running program: a digest that the linker made of everything it linked. A build of other sources,
// or with another compiler or other flags, has another build id.
#pragma once

#include <string>

namespace holdfast {

// Returns the build id in lower-case hexadecimal digits, or an empty string if the program was linked without one.
std::string BuildId();

}  // namespace holdfast
