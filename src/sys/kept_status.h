// A test whether this kernel keeps the exit status of a process that has been reaped (exit_status.h).
#pragma once

namespace holdfast::sys {

// Starts and reaps a child to find out.
bool KeepsExitStatus();

}  // namespace holdfast::sys
