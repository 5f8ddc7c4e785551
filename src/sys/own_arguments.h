// The arguments of the running program, as other processes see them in /proc/PID/cmdline.
#pragma once

namespace holdfast::sys {

// Called by `main`, before HideArguments can be called.
void RememberArguments(int argc, char** argv);

// Overwrites all arguments of this process but its name, so that no other process can read them. A parent, or a child
// that was made before, still shows them.
void HideArguments();

}  // namespace holdfast::sys
