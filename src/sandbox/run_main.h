// holdfast-linux-sandbox as a function: runs one command under a policy and gives its exit status.
#pragma once

#include "sandbox/jail/inner_orders.h"

namespace holdfast::sandbox {

// What it gives: sandbox/outcome.h. What stands on the descriptor of --report-fd: process/command/start_report.h.
//
// `file_helper` is what --fs-helper runs under the policy, in a process that may be pid 1 of a sandbox; its result is
// the exit status. Without it the flag is refused.
int RunMain(int argc, char** argv, BuiltIn file_helper = nullptr);

}  // namespace holdfast::sandbox
