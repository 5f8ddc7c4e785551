// The arguments of the running program, as other processes see them in /proc/PID/cmdline.
#pragma once

#include <cstddef>
#include <string_view>

namespace holdfast::sys {

// Called by `main`, before the functions below can be called.
void RememberArguments(int argc, char** argv);

// Overwrites all arguments of this process but its name, so that no other process can read them. A parent, or a child
// that was made before, still shows them.
void HideArguments();

// Overwrites the end of each argument that ends in `word`, but the first `shown` bytes of the word, with asterisks.
void HideInArguments(std::string_view word, size_t shown);

}  // namespace holdfast::sys
