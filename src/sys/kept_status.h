// Whether this kernel keeps the exit status of a process that has been reaped (exit_status.h).
#pragma once

namespace holdfast::sys {

// A child is started and reaped to see.
bool KeepsExitStatus();

}  // namespace holdfast::sys
