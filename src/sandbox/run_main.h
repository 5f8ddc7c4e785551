// RunMain is holdfast-linux-sandbox as a function: it runs one command under a policy and returns its exit status.
#pragma once

#include "sandbox/jail/inner_orders.h"

namespace holdfast::sandbox {

// The exit statuses are those of sandbox/outcome.h. The report that goes to the descriptor of --report-fd is described
// in process/command/start_report.h.
//
// `file_helper` is the function that --fs-helper runs under the policy. It returns the exit status. Without it the flag
// is refused.
int RunMain(int argc, char** argv, BuiltIn file_helper = nullptr);

}  // namespace holdfast::sandbox
