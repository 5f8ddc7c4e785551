// The jail is a helper that stays. It is given one plan, and makes the mounts of that plan once, in a mount namespace
// of its own: the template. For each command that the server asks for (jail_entry.h) it clones pid 1 of a sandbox,
// which has a copy of the template. Then it has nothing to do with that command any more: pid 1 is the keeper of its
// command, and goes on when the jail has ended. A jail knows no policy and resolves nothing.
//
// All commands of a jail share its user namespace, the mounts of the template, and an empty network namespace, in which
// no command can make a socket. Everything else is fresh for each command: the namespaces of processes, mounts, IPC,
// host names and control groups, and /proc, /dev/shm and /dev/pts. Where a plan does not fit a template, each command
// has a user namespace and all mounts of its own (Sharing in plan/jail_plan.h).
//
// What it does not stop: a command that looks into /proc/net/unix sees how many pairs of sockets other commands of the
// jail have, without any address. The limits that the kernel keeps for a user namespace, such as those of inotify, are
// shared by all commands of the jail. A server that asks for a command it should not run gets it: the jail trusts the
// server, and gets nothing from any command.
#pragma once

#include <optional>

#include "base/owned_fd.h"
#include "base/result.h"
#include "sandbox/jail/inner_orders.h"
#include "sandbox/plan/jail_plan.h"

namespace holdfast::sandbox {

// The descriptors whose numbers are on the command line of a jail, behind kJail (plan/program_names.h). The last one is
// only there if the filter of the plan needs it.
enum class JailFd { kPlan, kSocket, kReport, kProgram, kPortRuleset };

// Makes the template, and serves the entries that come on `socket` until its other end is closed. `port_ruleset_fd` is
// described in confine/port_ruleset.h. The calling process has a single thread, and is changed for good. Fails if the
// template cannot be built; then no entry has been received. The program of this process becomes that of each pid 1, so
// it has to be one that no command can change (own_image.h).
// `file_helper` runs for an entry that asks for it; it is null in a program that has none.
Result<> RunJailProcess(const JailPlan& plan, OwnedFd socket, std::optional<int> port_ruleset_fd, BuiltIn file_helper);

}  // namespace holdfast::sandbox
