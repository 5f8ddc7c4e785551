// A Landlock ruleset under which a command may connect to every TCP port but one: that of the server that started it,
// and would start another command for it without a sandbox.
//
// The kernel takes ports one by one. To make the ruleset takes some 80 ms, so a server makes it once; to enter it takes
// some 20 ms and 4 MiB of the kernel's memory for each sandbox, because the kernel copies it. Supervising `connect` by
// seccomp notification would cost less, but what it decides about lies in memory that the command can change meanwhile,
// so that a process outside would have to connect in place of the command, as somebody else.
//
// What it does not see: MPTCP, the first message of a connection that is sent along (MSG_FASTOPEN), and protocols that
// are put on top of a TCP socket. Filter::kGuardedNetwork refuses these.
#pragma once

#include <cstdint>

#include "base/owned_fd.h"
#include "base/result.h"

namespace holdfast::sandbox {

// Fails where the kernel's Landlock knows no ports: before ABI 4, which is Linux 6.7.
Result<OwnedFd> MakePortRuleset(uint16_t shut_port);

// For this thread and what it starts, for good. no_new_privs must be set.
Result<> EnterPortRuleset(int ruleset);

}  // namespace holdfast::sandbox
