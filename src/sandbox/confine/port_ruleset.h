// The port ruleset is a Landlock ruleset under which a command may connect to every TCP port but one: the port of the
// server that started it. Through that port the command could ask for another command without a sandbox.
//
// The kernel accepts ports only one by one. Making the ruleset takes some 80 ms, so a server makes it once. Entering it
// takes some 20 ms and 4 MiB of the kernel's memory for each sandbox, because the kernel copies it. Supervising
// `connect` by seccomp notification would cost less, but the address lies in memory that the command can change after
// it was checked, so a process outside would have to connect in place of the command, with that process's identity.
//
// What it does not stop: MPTCP, a connection that is made by sending its first message (MSG_FASTOPEN), and protocols
// that are put on top of a TCP socket. Filter::kGuardedNetwork refuses these.
#pragma once

#include <cstdint>

#include "base/owned_fd.h"
#include "base/result.h"

namespace holdfast::sandbox {

// Makes the ruleset that leaves out `shut_port`. Fails where the kernel's Landlock has no rules about ports, which is
// before ABI 4 (Linux 6.7).
Result<OwnedFd> MakePortRuleset(uint16_t shut_port);

// Puts this thread and all that it starts under the ruleset, for good. no_new_privs must be set.
Result<> EnterPortRuleset(int ruleset);

}  // namespace holdfast::sandbox
