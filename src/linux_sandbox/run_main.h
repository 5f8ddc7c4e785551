// holdfast-linux-sandbox as a function: runs one command under a policy and gives its exit status.
#pragma once

namespace holdfast::linux_sandbox {

// Whether a program that was started so is this one: by its name, or as the inner stage of a sandbox.
bool IsOurs(int argc, char** argv);

// The exit status: the command's own, 128 + N after a signal, 127 and 126 as a shell has them; 2 for a command line
// that makes no sense, 8 for a bundled bubblewrap that is not the one it should be, 1 when the policy cannot be
// enforced here, 101 for what should not happen.
//
// What stands on the descriptor of --report-fd: sandbox/start_report.h.
//
// `fs_helper` is what --fs-helper runs under the policy, in a process that may be pid 1 of a sandbox; its result is the
// exit status. Without it the flag is refused.
int RunMain(int argc, char** argv, int (*fs_helper)() = nullptr);

}  // namespace holdfast::linux_sandbox
